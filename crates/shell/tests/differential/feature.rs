//! Features of scripts that Linchpin must simulate, and features that it does not support.

/// Random scripts use a feature only if it is supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    Env,
    Nice,
    Nohup,
    Timeout,
    Command,
    Exec,
    Xargs,
    BashC,
    Eval,
    ShellWithHeredoc,
    PipedShell,
    Variables,
    LoopVariables,
    Arguments,
    ConstantSubstitution,
    /// `{,'z'}` is one word: an empty word without quotes is dropped.
    EmptyAlternatives,
    /// After `$(for ((…`, the parser reads a heredoc as commands, and loses the text after the heredoc's tag.
    ArithmeticBeforeHeredoc,
    /// In a substitution, bash accepts `END)` as the end of a heredoc.
    HeredocEndedByParenthesis,
    /// Bash expands the tilde in `a=~` as in an assignment, even if the word is an argument.
    TildeAfterEquals,
    /// The parser reads `\$'` as the start of `$'…'`, and the commands after it as part of the word.
    EscapedDollarBeforeQuote,
    /// In `$'…'`, a backslash before a newline is kept.
    ContinuationInAnsiCQuotes,
}

/// Features that are not supported yet. Once a feature is removed from this list, random scripts use it.
pub const UNSUPPORTED: &[Feature] = &[
    Feature::ArithmeticBeforeHeredoc,
    Feature::HeredocEndedByParenthesis,
    Feature::TildeAfterEquals,
    Feature::EscapedDollarBeforeQuote,
    Feature::ContinuationInAnsiCQuotes,
];

impl Feature {
    pub const ALL: [Self; 21] = [
        Self::Env,
        Self::Nice,
        Self::Nohup,
        Self::Timeout,
        Self::Command,
        Self::Exec,
        Self::Xargs,
        Self::BashC,
        Self::Eval,
        Self::ShellWithHeredoc,
        Self::PipedShell,
        Self::Variables,
        Self::LoopVariables,
        Self::Arguments,
        Self::ConstantSubstitution,
        Self::EmptyAlternatives,
        Self::ArithmeticBeforeHeredoc,
        Self::HeredocEndedByParenthesis,
        Self::TildeAfterEquals,
        Self::EscapedDollarBeforeQuote,
        Self::ContinuationInAnsiCQuotes,
    ];

    pub fn is_supported(self) -> bool {
        !UNSUPPORTED.contains(&self)
    }

    /// True if the words of the commands can be determined from the script alone.
    pub fn is_exact(self) -> bool {
        self != Self::TildeAfterEquals
    }

    /// A minimal script that must be read correctly if the feature is supported.
    pub fn sample(self) -> &'static str {
        match self {
            Self::Env => "env alpha a; env -u Y X=1 beta b",
            Self::Nice => "nice alpha a; nice -n 1 beta b",
            Self::Nohup => "nohup alpha a",
            Self::Timeout => "timeout 9 alpha a; timeout -s KILL 1m beta b",
            Self::Command => "command alpha a; command -- beta b",
            Self::Exec => "(exec alpha a); (exec -a x beta b)",
            Self::Xargs => "printf 'p q' | xargs alpha a; xargs -I{} beta {}z <<< p",
            Self::BashC => "bash -c 'alpha a; beta \"$1\"' x b",
            Self::Eval => "eval 'alpha a'; eval beta b",
            Self::ShellWithHeredoc => "bash <<'E'\nalpha a\nE\nbash <<< 'beta b'",
            Self::PipedShell => "printf 'alpha a\\n' | bash; echo 'beta b' | bash",
            Self::Variables => "A=a B='b c'; alpha $A \"$B\" \"${A}z\"; A=z; beta \"$A\"",
            Self::LoopVariables => "for a in a 'b c'; do alpha \"$a\"; done",
            Self::Arguments => "f() { alpha \"$1\" \"$@\"; }; f a 'b c'",
            Self::ConstantSubstitution => "alpha \"$(echo a)\" $(printf 'b')",
            Self::EmptyAlternatives => "alpha {,'z'}",
            Self::ArithmeticBeforeHeredoc => ": \"$(for ((i=0;i<2;i++)); do alpha; done)\" <<E | beta\nx\nE",
            Self::HeredocEndedByParenthesis => ": $(alpha <<E\nx\nE)\n( beta <<E\ny\nE\n)",
            Self::TildeAfterEquals => "alpha of=~/x",
            Self::EscapedDollarBeforeQuote => r"alpha \$'\'; beta '\'' '",
            Self::ContinuationInAnsiCQuotes => "alpha $'a\\\nb'",
        }
    }
}
