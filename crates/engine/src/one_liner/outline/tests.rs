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
    for text in ["system(", "a = (", "'", "\"\\", "{", "<<<E\n"] {
        assert!(read("php", &text.repeat(MAX_BYTES / text.len())).is_some());
    }
}
