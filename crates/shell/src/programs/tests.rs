//! Tests of the table of programs, and of the parser for its lines.

use super::{Arguments, Role, arguments};

fn read(command: &str) -> Arguments {
    let words: Vec<Option<&str>> = command.split(' ').map(|word| (word != "?").then_some(word)).collect();
    arguments(words[0].expect("a program"), &words).unwrap_or_else(|| panic!("{command}"))
}

/// The arguments whose role is not `Plain`, each with its role.
fn roles(command: &str) -> String {
    let words: Vec<&str> = command.split(' ').collect();
    let shown = read(command).with_roles.into_iter().filter(|argument| argument.role != Role::Plain).map(|argument| {
        let text = match argument.role {
            Role::Command | Role::Words => words[argument.word..].join(" "),
            _ => words[argument.word].get(argument.from..).expect("a part of it").to_owned(),
        };
        format!("{:?} {text}", argument.role)
    });
    shown.collect::<Vec<_>>().join(", ")
}

#[test]
fn every_line_can_be_read() {
    for line in include_str!("programs.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (left, usage) = line.split_once(": ").expect("a colon");
        let flags = left.find(" -").and_then(|at| left.get(at..)).unwrap_or_default();
        assert!(super::usage::Usage::parse(flags, usage).is_some(), "{line}");
    }
}

#[test]
fn roles_of_arguments() {
    let cases = [
        ("cat a b", "Read a, Read b"),
        ("grep -rn pattern src", "Data pattern, Read src"),
        ("grep -e pattern src", "Data pattern, Read src"),
        ("grep -epattern --file=x src", "Data pattern, Read x, Read src"),
        ("sed -n p a", "Data p, Read a"),
        ("sed -i s/a/b/ x y", "Data s/a/b/, Edit x, Edit y"),
        ("sed -i.bak -e p x", "Data p, Edit x"),
        ("cp -r a b c", "Read a, Read b, Write c"),
        ("cp -t d a b", "Write d, Read a, Read b"),
        ("mv a b", "Move a, Write b"),
        ("dd if=.env of=x bs=1", "Read .env, Write x"),
        ("git -C sub push origin +main", "Directory sub, Subcommand push"),
        ("git commit -am message -- a", "Subcommand commit, Data message, Inspect a"),
        ("git commit --mess=text", "Subcommand commit, Data text"),
        ("git submodule foreach ls", "Subcommand submodule, Subcommand foreach, Hook ls"),
        ("git unheard-of a b", "Subcommand unheard-of, Path unheard-of, Path a, Path b"),
        ("sudo -u root -- rm -rf /", "Command rm -rf /"),
        ("env -u A B=1 git push", "Assignment B=1, Command git push"),
        ("timeout -k 1 5 rm x", "Command rm x"),
        ("bash -lc script name a", "Shell script, Words name a"),
        ("bash -o pipefail x.sh -c y", "Script x.sh, Words -c y"),
        ("python3 -c code x", "Code code, Words x"),
        ("jq --arg a b .x file", "Data a, Data b, Data .x, Read file"),
        ("python3 -m pytest -k x", "Subcommand pytest, Data x"),
        ("python3 -mzipfile -e a b", "Subcommand zipfile, Read a, Write b"),
        ("python3 manage.py shell -c code", "Code code"),
        ("python3 manage.py migrate app", "Script manage.py, Words migrate app"),
        ("env -S a b -c", "Shell a, Command b -c"),
        ("yarn workspace a exec ls -l", "Subcommand workspace, Subcommand exec, Command ls -l"),
        ("psql -c query -d app", "Query query"),
        ("curl -F f=@.env -d @x -o out url", "FormField f=@.env, AtFile @x, Write out, Url url"),
        ("docker run --env-file .env img cmd", "Subcommand run, Read .env, Host img, Words cmd"),
        ("tar -czf out.tgz src", "Write out.tgz, Read src"),
        ("tar cf - .env", "Write -, Read .env"),
        ("tar xfz a.tgz x", "Read a.tgz, Write x"),
        ("awk -F= code file", "Code code, Read file"),
        ("chmod -x file", "Metadata file"),
        ("chmod -R 755 file", "Metadata file"),
        ("bash +x -c script", "Shell script"),
        ("bash -c -e script name", "Shell script, Words name"),
        ("bash -ce script", "Shell script"),
        ("perl -lne code file", "Code code, Read file"),
        ("perl -0777pi -e code file", "Code code, Edit file"),
        ("perl x.pl -e 1", "Script x.pl, Words -e 1"),
        ("python3 -ccode -h", "Code code, Words -h"),
        ("python3 x.py -m y", "Script x.py, Words -m y"),
        ("node -pe code", "Code code"),
        ("php x.php -a", "Script x.php, Words -a"),
        ("ssh host -p 22 ls -l", "Host host, Words ls -l"),
        ("kubectl exec pod -c app -- ls -l", "Subcommand exec, Host pod, Words ls -l"),
        ("mix unheard-of x", "Subcommand unheard-of"),
        ("mix cmd ls -l", "Subcommand cmd, Command ls -l"),
        ("rsync -a --delete a/ b/", "ReadOrRemote a/, DeleteOrRemote b/"),
    ];
    for (command, expected) in cases {
        assert_eq!(roles(command), expected, "{command}");
    }
    assert_eq!(arguments("unheard-of", &[Some("unheard-of"), Some("x")]), None);
}

#[test]
fn clusters_and_abbreviations_of_flags() {
    let flags = |command| read(command).flags.into_iter().map(|flag| flag.name).collect::<Vec<_>>();
    assert_eq!(flags("git push -fu origin --force-with-lease=x"), ["-f", "-u", "--force-with-lease"]);
    assert_eq!(flags("rm -r -- -f"), ["-r"]);
    assert_eq!(flags("tar -cfx y"), ["-c", "-f"]);
    assert_eq!(flags("git push --del origin x"), ["--delete"]);
    assert_eq!(flags("git reset --har"), ["--hard"]);
    assert_eq!(flags("git unheard-of --force -xy"), ["--force", "-x", "-y"]);
    assert_eq!(read("git -C . push ?").subcommands, ["push"]);
}

#[test]
fn unknown_roles_are_rejected() {
    for usage in ["[--arg DATA,DATAX] READ", "[--arg DATAX,DATA] READ", "[-f REED] READ", "REED...", "WRIT(.)"] {
        assert!(super::usage::Usage::parse("", usage).is_none(), "{usage}");
    }
}
