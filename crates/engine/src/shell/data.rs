//! Which operands are data to their program: text that it prints, stores or searches for, and never runs.
//!
//! A table. A program that is not in it has no data operands, so that all it is given stays visible to rules.

use super::command::Word;

struct Knowledge {
    programs: &'static [&'static str],
    /// The first operand must be one of these; empty where the program has no subcommands.
    subcommands: &'static [&'static str],
    /// Behind the subcommand, where there is one.
    operands: Operands,
    /// Flags whose value is data. One letter stands for itself, for `-mtext` and for the end of `-am`.
    data_flags: &'static [&'static str],
    /// Flags that bring what would otherwise be the first operand.
    replacing_flags: &'static [&'static str],
    /// Flags whose value is not an operand.
    value_flags: &'static [&'static str],
    /// The same, with two values.
    pair_flags: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// None of them is data.
    Plain,
    /// The first one is.
    FirstIsData,
    /// All are, and behind the first there are no flags any more.
    AllAreData,
}

const NONE: Knowledge = Knowledge {
    programs: &[],
    subcommands: &[],
    operands: Operands::Plain,
    data_flags: &[],
    replacing_flags: &[],
    value_flags: &[],
    pair_flags: &[],
};

const GIT_VALUE_FLAGS: &[&str] =
    &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path"];

const TABLE: &[Knowledge] = &[
    Knowledge {
        programs: &["echo", ":", "wall", "say", "notify-send", "cowsay", "figlet"],
        operands: Operands::AllAreData,
        ..NONE
    },
    Knowledge { programs: &["printf"], operands: Operands::AllAreData, value_flags: &["-v"], ..NONE },
    Knowledge { programs: &["logger"], operands: Operands::AllAreData, value_flags: &["-t", "-p", "-f", "-n"], ..NONE },
    Knowledge {
        programs: &["grep", "egrep", "fgrep", "zgrep", "bzgrep", "xzgrep", "ugrep", "ggrep"],
        operands: Operands::FirstIsData,
        data_flags: &["-e", "--regexp"],
        replacing_flags: &["-e", "--regexp", "-f", "--file"],
        value_flags: &[
            "-f",
            "--file",
            "-A",
            "--after-context",
            "-B",
            "--before-context",
            "-C",
            "--context",
            "-m",
            "--max-count",
            "-d",
            "--directories",
            "-D",
            "--devices",
            "--include",
            "--exclude",
            "--exclude-dir",
            "--exclude-from",
            "--label",
        ],
        ..NONE
    },
    Knowledge {
        programs: &["rg"],
        operands: Operands::FirstIsData,
        data_flags: &["-e", "--regexp", "-r", "--replace"],
        replacing_flags: &["-e", "--regexp", "-f", "--file", "--files", "--type-list"],
        value_flags: &[
            "-f",
            "--file",
            "-A",
            "--after-context",
            "-B",
            "--before-context",
            "-C",
            "--context",
            "-m",
            "--max-count",
            "-g",
            "--glob",
            "--iglob",
            "-t",
            "--type",
            "-T",
            "--type-not",
            "-j",
            "--threads",
            "-M",
            "--max-columns",
            "-d",
            "--max-depth",
            "-E",
            "--encoding",
            "--sort",
            "--sortr",
            "--pre",
            "--pre-glob",
            "--ignore-file",
            "--max-filesize",
            "--color",
            "--colors",
        ],
        ..NONE
    },
    Knowledge {
        programs: &["ag", "ack"],
        operands: Operands::FirstIsData,
        replacing_flags: &["-g", "-f"],
        value_flags: &["-A", "-B", "-C", "-m", "-G", "--ignore", "--ignore-dir", "--depth", "--type"],
        ..NONE
    },
    Knowledge {
        programs: &["sed", "gsed"],
        operands: Operands::FirstIsData,
        data_flags: &["-e", "--expression"],
        replacing_flags: &["-e", "--expression", "-f", "--file"],
        value_flags: &["-f", "--file", "-l", "--line-length"],
        ..NONE
    },
    Knowledge {
        programs: &["awk", "gawk", "mawk", "nawk"],
        operands: Operands::FirstIsData,
        data_flags: &["-e", "--source"],
        replacing_flags: &["-e", "--source", "-f", "--file"],
        value_flags: &["-f", "--file", "-F", "--field-separator", "-v", "--assign", "-i", "--include", "-l", "--load"],
        ..NONE
    },
    Knowledge {
        programs: &["jq", "gojq", "jaq", "yq"],
        operands: Operands::FirstIsData,
        replacing_flags: &["-f", "--from-file"],
        value_flags: &["-f", "--from-file", "-L", "--indent"],
        pair_flags: &["--arg", "--argjson", "--slurpfile", "--rawfile"],
        ..NONE
    },
    Knowledge {
        programs: &["git"],
        subcommands: &["commit", "tag", "notes", "merge", "stash", "revert", "cherry-pick", "commit-tree"],
        data_flags: &["-m", "--message", "--trailer"],
        value_flags: &["-F", "--file", "-C", "-c", "--reuse-message", "--reedit-message", "--author", "--date"],
        ..NONE
    },
    Knowledge {
        programs: &["git"],
        subcommands: &["log", "shortlog", "rev-list", "show", "diff", "whatchanged", "reflog"],
        data_flags: &["--grep", "--author", "--committer", "-S", "-G", "--format", "--pretty"],
        ..NONE
    },
    Knowledge {
        programs: &["git"],
        subcommands: &["grep"],
        operands: Operands::FirstIsData,
        data_flags: &["-e"],
        replacing_flags: &["-e", "-f"],
        value_flags: &["-f", "-A", "-B", "-C", "-m", "--max-count", "--max-depth", "--threads"],
        ..NONE
    },
    Knowledge { programs: &["git"], value_flags: GIT_VALUE_FLAGS, ..NONE },
    Knowledge {
        programs: &["gh", "glab"],
        data_flags: &["-t", "--title", "-b", "--body", "-n", "--notes", "-d", "--description", "--subject"],
        ..NONE
    },
    Knowledge {
        programs: &["jj", "hg", "svn", "sl"],
        data_flags: &["-m", "--message"],
        value_flags: &["-R", "--repository", "--cwd"],
        ..NONE
    },
];

/// Sets [`Word::data`] on every word. The program is the first of them.
pub(super) fn mark(words: &mut [Word]) {
    for word in &mut *words {
        word.data = false;
        word.flag_length = 0;
    }
    let Some((program, arguments)) = words.split_first_mut() else { return };
    let Some(program) = program.value.as_deref() else { return };
    let program = program.rsplit('/').next().unwrap_or(program);
    let mut rows = TABLE.iter().filter(|row| row.programs.contains(&program)).peekable();
    if rows.peek().is_none() {
        return;
    }
    // A program with subcommands has one row without them, which tells where the subcommand stands.
    let rows: Vec<_> = rows.collect();
    let Some(general) = rows.iter().find(|row| row.subcommands.is_empty()) else { return };
    if rows.len() == 1 {
        return Marking::new(general).all(arguments);
    }
    let Some(place) = Marking::new(general).first_operand(arguments) else { return };
    let Some(subcommand) = arguments.get(place).and_then(|word| word.value.as_deref()) else { return };
    if let Some(row) = rows.iter().find(|row| row.subcommands.contains(&subcommand)) {
        Marking::new(row).all(arguments.get_mut(place + 1..).unwrap_or_default());
    }
}

/// What the next argument is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Argument,
    /// The value of the flag before it, and of how many more.
    Value {
        is_data: bool,
        more: usize,
    },
}

struct Marking {
    row: &'static Knowledge,
    next: Next,
    flags_ended: bool,
    first_operand_seen: bool,
}

impl Marking {
    fn new(row: &'static Knowledge) -> Self {
        Self { row, next: Next::Argument, flags_ended: false, first_operand_seen: false }
    }

    fn first_operand(mut self, arguments: &mut [Word]) -> Option<usize> {
        for (place, word) in arguments.iter_mut().enumerate() {
            self.argument(word);
            if self.first_operand_seen {
                return Some(place);
            }
        }
        None
    }

    fn all(mut self, arguments: &mut [Word]) {
        let replaced = |word: &Word| {
            let text = word.value.as_deref().unwrap_or_default();
            self.row.replacing_flags.iter().any(|flag| flag_at(text, flag).is_some())
        };
        self.first_operand_seen = arguments.iter().any(replaced);
        for word in arguments {
            self.argument(word);
        }
    }

    fn argument(&mut self, word: &mut Word) {
        if let Next::Value { is_data, more } = self.next {
            word.data = is_data;
            self.next = if more > 0 { Next::Value { is_data, more: more - 1 } } else { Next::Argument };
            return;
        }
        let text = word.value.clone().unwrap_or_else(|| word.shown.clone());
        if self.flags_ended || !text.starts_with('-') || text == "-" {
            self.operand(word);
        } else if text == "--" {
            self.flags_ended = true;
        } else {
            self.flag(word, &text);
        }
    }

    fn operand(&mut self, word: &mut Word) {
        word.data = match self.row.operands {
            Operands::Plain => false,
            Operands::FirstIsData => !self.first_operand_seen,
            Operands::AllAreData => true,
        };
        self.first_operand_seen = true;
        self.flags_ended |= self.row.operands == Operands::AllAreData;
    }

    fn flag(&mut self, word: &mut Word, text: &str) {
        let found = |flags: &[&str]| flags.iter().find_map(|flag| flag_at(text, flag));
        if let Some(value) = found(self.row.data_flags) {
            match value {
                Value::Next => self.next = Next::Value { is_data: true, more: 0 },
                Value::Attached(flag_length) => (word.data, word.flag_length) = (true, flag_length),
            }
        } else if found(self.row.value_flags) == Some(Value::Next) {
            self.next = Next::Value { is_data: false, more: 0 };
        } else if found(self.row.pair_flags) == Some(Value::Next) {
            self.next = Next::Value { is_data: false, more: 1 };
        }
    }
}

/// Where a flag's value stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    Next,
    /// In the same word, behind so many bytes.
    Attached(usize),
}

/// Letters that, in the programs of the table, stand for flags without a value.
const VALUELESS: &[u8] = b"aehilnopqrsvwxzEHILR";

fn flag_at(text: &str, flag: &str) -> Option<Value> {
    if text == flag {
        return Some(Value::Next);
    }
    if flag.starts_with("--") {
        return text.strip_prefix(flag)?.starts_with('=').then_some(Value::Attached(flag.len() + 1));
    }
    // Of a cluster such as `-am`, only letters before the flag's own can be other flags.
    let letter = flag.strip_prefix('-').filter(|letter| letter.len() == 1)?;
    let cluster = text.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'))?;
    let (before, behind) = cluster.split_once(letter)?;
    match (before, behind) {
        ("", behind) if !behind.is_empty() => Some(Value::Attached(2)),
        // One that takes a value itself would take the flag for it: `-Fm` reads a message from the file `m`.
        (before, "") if before.bytes().all(|byte| VALUELESS.contains(&byte)) => Some(Value::Next),
        _ => None,
    }
}
