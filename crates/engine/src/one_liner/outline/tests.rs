use super::*;

fn shown(program: &str, text: &str) -> String {
    let OneLiner { touches, spawns, unknown, complete, .. } = read(program, text).unwrap();
    let touches = touches.iter().map(|(access, path)| format!("{access:?} {path}"));
    let spawns = spawns.iter().map(|spawn| match spawn {
        Spawn::Shell(text) => format!("runs {text}"),
        Spawn::Words(words) => {
            format!("starts {}", words.iter().map(|word| word.as_deref().unwrap_or("?")).collect::<Vec<_>>().join(" "))
        }
    });
    let unknown = unknown.iter().map(|access| format!("{access:?} ?"));
    let hidden = (!complete).then(|| "hides".to_owned());
    touches.chain(spawns).chain(unknown).chain(hidden).collect::<Vec<_>>().join(", ")
}

#[test]
fn calls_and_what_only_looks_like_them() {
    let cases = [
        ("php", "$stmt->execute(); $x->delete(); Cache::delete('a');", ""),
        ("php", "// unlink('a')\n# system('b')\n/* exec('c') */", ""),
        ("php", "echo 'unlink(\"a\")';", ""),
        ("php", "unlink('a' . '/b'); copy(\"c\", 'd');", "Delete a/b, Read c, Write d"),
        ("php", "unlink($x); unlink(\"$x\");", "Delete ?, Delete ?"),
        ("php", "array_map('unlink', $files);", "Delete ?"),
        ("php", "readfile(__DIR__ . '/.env'); readfile($a . '/.env');", "Read ./.env, Read …/.env"),
        ("php", "system('ls'); echo `ls -l`; new Process(['ls', '-a']);", "runs ls, runs ls -l, starts ls -a"),
        ("php", "$f = 'system'; $f('ls');", "hides"),
        ("php", "system($x);", "hides"),
        ("php", "<p>it's</p><?php system('ls') ?> don't", "runs ls"),
        ("php", "$a = <<<EOT\n don't\n EOT; unlink('a');", "Delete a"),
        ("lua", "table.remove(t, 1) -- os.remove('a')", ""),
        ("lua", "os.execute [[ls]]\nio.open('a', 'w') io.open('b')", "Write a, Read b, runs ls"),
        ("lua", "local o = os", "hides"),
        ("Rscript", "file.remove(c('a', 'b')); x$unlink('c')", "Delete a, Delete b"),
        ("Rscript", "system2('git', c('status', '-s')); lapply(files, unlink)", "starts git status -s, Delete ?"),
        ("julia", "rm(\"a\"; recursive=true); delete!(df, 1); c = '\"'", "Delete a"),
        ("julia", "run(`ls -l`)", "runs ls -l"),
        ("elixir", "\"a\" |> File.rm!(); Process.list()", "Delete a"),
        ("elixir", "System.cmd \"ls\", [\"-l\"], cd: x", "starts ls -l"),
        ("elixir", ":os.cmd(~c\"ls\"); Enum.each(files, &File.rm/1)", "runs ls, Delete ?"),
        ("guile", "(display \"(system 1)\") ; (system \"ls\")", ""),
        ("guile", "(system \"ls\") (system* \"ls\" \"-l\")", "runs ls, starts ls -l"),
        ("guile", "(system command)", "hides"),
        ("emacs", "(call-process \"ls\" nil nil nil \"-l\")", "starts ls -l"),
        ("erl", "os:cmd(\"l\" ++ \"s\"), halt().", "runs ls"),
        ("ghc", "System.Process.callProcess \"ls\" [\"-l\"]", "starts ls -l"),
        ("octave", "system('ls'); x = a' * b'; printf('%d', c)", "runs ls"),
        ("gnuplot", "plot 'a' with lines", ""),
        ("dc", "1 2 !=a p\n!ls -l\n3 p", "runs ls -l"),
        ("php", "system('ls'", "hides"),
        ("php", "echo 'a", "hides"),
        ("php", "system('ls'); // <?", "runs ls"),
        ("php", "echo '<?xml version=\"1.0\"?>';", ""),
        ("php", "<?php echo '?>'; system('ls');", "runs ls"),
        ("php", "<?php // it's ?> don't <?php system('ls');", "runs ls"),
        ("php", "echo \"{$a['x']}\"; echo \"${a}\";", ""),
        ("php", "echo \"{$f(system('ls'))}\";", "runs ls"),
        ("php", "('sys' . 'tem')('ls');", "hides"),
        ("php", "$f = strrev('metsys'); $f('ls');", "hides"),
        ("php", "$f = fn($x) => $x; $f('ls'); (int)('3');", ""),
        ("guile", "(list #\\\") (system \"ls\") (list #\\\")", "runs ls"),
        ("guile", "(list '\"'\") (system \"ls\") #;1 (system \"pwd\")", "runs ls, runs pwd"),
        ("guile", "#| #| |# \" |# (system \"ls\")", "runs ls"),
        ("bb", "(list \\\") (shell \"ls\")", "runs ls"),
        ("bb", "(require '[clojure.java.shell :as s]) (s/sh \"ls\" \"-l\") (d/delete \"a\")", "starts ls -l"),
        ("emacs", "(list ?\" ?\\\" ?a) (shell-command \"ls\")", "runs ls"),
        ("emacs", "(list ?\\C-\") (message \"x\")", "hides"),
        ("erl", "X = [$\", $\\\", 'a\"b'], os:cmd(\"ls\").", "runs ls"),
        ("erl", "M = os, M:cmd(\"ls\").", "hides"),
        ("erl", "'os':cmd(\"ls\").", "hides"),
        ("erl", "X = lists:seq(1, 3), <<Y:8>> = <<1>>, io:format(\"~p\", [X]).", ""),
        ("elixir", "~s(\"); System.shell(\"ls\"); ~S[\"] <> ~r/\"/", "runs ls"),
        ("elixir", "[?\", ?a]; String.valid?(\"a\"); System.cmd(\"ls\", ~w(-l -a))", "starts ls -l -a"),
        ("elixir", "IO.puts \"#{File.rm(\"a\")}\"; IO.puts \"#{x}\"", "Delete a"),
        ("elixir", "o = [os: 1]; o[:os]; System.version()", ""),
        ("elixir", "import System; cmd(\"ls\", [])", "hides"),
        ("elixir", "s = :os; s.cmd(~c\"ls\")", "hides"),
        ("elixir", "String.to_atom(\"os\").cmd(~c\"ls\")", "hides"),
        ("elixir", "DateTime.utc_now().year; f = &(&1 + 1); f.(2); Elixir.System.shell(\"ls\")", "runs ls"),
        ("lua", "x = [==[\"]==] os.execute('ls') --[==[ ' ]==] _G.os.execute('pwd')", "runs ls, runs pwd"),
        ("Rscript", "x <- r\"(\")\"; y <- R'--[']--'; system('ls')", "runs ls"),
        ("Rscript", "base::system('ls'); utils::read.csv('a'); base::unlink('b')", "Read a, Delete b, runs ls"),
        ("Rscript", "do.call('system', list('ls'))", "hides"),
        ("Rscript", "do.call(paste0('sys', 'tem'), list('ls'))", "hides"),
        ("Rscript", "do.call('rbind', x); do.call(rbind, x); sapply(x, length); c('system', 'user')", ""),
        ("Rscript", "sapply('ls', system)", "hides"),
        ("Rscript", "f <- system; f('ls')", "hides"),
        ("Rscript", "plot(x, parse = TRUE); shell <- 3; `system`('ls')", "runs ls"),
        ("octave", "cellfun(@system, {'ls'})", "hides"),
        ("octave", "x = 'a'' '; system('ls'); b = x'; cellfun(@numel, {'ls'})", "runs ls"),
        ("octave", "%{ '\nsystem('ls')\n%}", "runs ls"),
        ("ghc", "system $ \"ls\"", "runs ls"),
        ("ghc", "mapM_ system [\"ls\"]", "hides"),
        ("runghc", "import System.Process (system)\nmain = foldl' \"'\" >> P.system \"ls\"", "runs ls"),
        ("julia", "raw\"$(\"; rm(\"a\"); x'; raw\")\"", "Delete a"),
        ("julia", "println(\"$(rm(\"a\"))\") #= #= =# \" =#", "Delete a"),
    ];
    for (program, text, expected) in cases {
        assert_eq!(shown(program, text), expected, "{program}: {text}");
    }
}

#[test]
fn every_beginning_of_a_text_is_read() {
    let text = "<?php system(\"ä{$x}\" . 'b\\'', [1]); # ü\n$a = <<<E\nx\nE; `c` new Process(['ö'])";
    for length in 0..text.chars().count() {
        let beginning: String = text.chars().take(length).collect();
        for program in ["php", "lua", "R", "julia", "elixir"] {
            assert!(read(program, &beginning).is_some());
        }
    }
}

#[test]
fn hostile_texts_take_no_longer_than_others() {
    for text in ["$f(", "a')(", "\"{$", "?><?", "system(", "a = (", "'", "\"\\", "{", "<<<E\n"] {
        assert!(read("php", &text.repeat(MAX_BYTES / text.len())).is_some());
    }
}

/// Literals that a language has, each harmless, and a call that starts something.
const LITERALS: &[(&str, &str, &[&str])] = &[
    (
        "php",
        "; system('ls');",
        &[
            "$a='\"'",
            "$a=\"'\"",
            "$a='\\''",
            "$a=\"\\\"\"",
            "$a='<?'",
            "$a='?>'",
            "$a=\"{$b['\"']}\"",
            "/* ' */",
            "#'\n",
            "//\"\n",
            "$a=<<<E\n'\nE",
            "?>'<?php ",
        ],
    ),
    (
        "lua",
        "; os.execute('ls')",
        &["a='\"'", "a=\"'\"", "a=[[']]", "a=[=[\"]=]", "a=[===[']]]===]", "--[==[ ' ]==]", "--'\n", "a='\\''"],
    ),
    ("Rscript", "; system('ls')", &["'\"'", "\"'\"", "r\"(\")\"", "R'[']'", "r\"---{'}---\"", "`\"`", "#'\n", "'\\''"]),
    (
        "julia",
        "; run(`ls`)",
        &[
            "'\"'",
            "\"'\"",
            "'\\''",
            "raw\"'\"",
            "\"\"\"\"'\"\"\"",
            "#= ` =#",
            "#= #= =# ` =#",
            "a'",
            "\"$(\"`\")\"",
            "raw\"$(\"",
        ],
    ),
    (
        "elixir",
        "; System.shell(\"ls\")",
        &[
            "'\"'",
            "\"'\"",
            "~s(\")",
            "~S[\"]",
            "~w{\"}",
            "~r/\"/",
            "~c|\"|",
            "~s'''\n\"\n'''",
            "?\"",
            "?\\\"",
            "?'",
            "\"#{\"'\"}\"",
            "\"#{?\"}\"",
            "#\"\n",
        ],
    ),
    (
        "guile",
        " (system \"ls\")",
        &["#\\\"", "\"'\"", "'\"'\"", "\"\\\"\"", "#| \" |#", "#| #| |# \" |#", "#;1", ";\"\n"],
    ),
    ("bb", " (shell \"ls\")", &["\\\"", "\"'\"", "'\"'\"", ";\"\n"]),
    ("emacs", " (shell-command \"ls\")", &["?\"", "?\\\"", "\"?\"", "?\\C-\"", "?\\;", "?;", ";\"\n"]),
    ("erl", ", os:cmd(\"ls\").", &["$\"", "$\\\"", "$'", "'\"'", "'a\"b'", "\"'\"", "~s(\")", "$%", "%\"\n1"]),
    ("ghc", " >> system \"ls\"", &["'\"'", "'\\''", "\"'\"", "f' \"'\"", "{- \" -}", "{- {- -} \" -}", "--\"\n"]),
    (
        "octave",
        "; system('ls')",
        &["\"'\"", "'\"'", "'a'' '", "a'", "[1 2]'", "\"a\"'", "%'\n", "#\"\n", "%{ '\n", "%{\n'\n%}\n"],
    ),
    ("gnuplot", "; system('ls')", &["\"'\"", "'\"'", "'a'' '", "#'\n", "\"\\\"\""]),
];

#[test]
fn no_literal_hides_a_call() {
    for (program, call, literals) in LITERALS {
        let firsts = literals.iter().map(|literal| (*literal, ""));
        let pairs = literals.iter().flat_map(|first| literals.iter().map(move |second| (*first, *second)));
        for (first, second) in firsts.chain(pairs) {
            // One may be needed behind the call too, for the quotes to come out even.
            for text in [format!("{first} \n{second}{call}"), format!("{first}{call} \n{second}")] {
                let shown = shown(program, &text);
                assert!(shown.contains("runs ls") || shown.contains("hides"), "{program}: {text}: {shown}");
            }
        }
    }
}
