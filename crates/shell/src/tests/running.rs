//! Tests of commands that run through other programs, variables, functions, loops and the output of commands, and of
//! the directories in which commands run.

use super::texts;
use crate::{Gap, SimpleCommand, parse};
use insta::assert_snapshot;

/// Each command with the programs that run it.
fn with_wrappers(text: &str) -> String {
    let script = parse(text);
    let commands = script.commands.iter().filter(|command| !command.words().is_empty());
    let mut shown: Vec<_> = commands
        .map(|command| {
            let remote = if command.is_remote() { " (remote)" } else { "" };
            let remote = if command.provenance.is_assumed { " (assumed)" } else { remote };
            format!("{}{remote} via {}", command.text(), command.via().join(", ")).trim_end_matches(" via ").to_owned()
        })
        .collect();
    shown.extend(script.gaps.iter().map(|gap| format!("gap: {gap}")));
    shown.join("\n")
}

#[test]
fn commands_of_wrappers_are_found() {
    assert_snapshot!(with_wrappers("sudo -u root -- rm -rf /var; nohup nice -n 5 rm x; env -i A=1 timeout -k 1 5 make -j8 > log"), @"
    rm -rf /var via sudo
    rm x via nohup, nice
    make -j8 via env, timeout
    ");
    assert_snapshot!(with_wrappers("bash -lc 'cd x && make'; sh -xc \"rm x\" name; bash -o pipefail -c 'a | b'; eval 'rm' '-rf x'"), @"
    cd x via bash -c
    make via bash -c
    rm x via sh -c
    a via bash -c
    b via bash -c
    rm -rf x via eval
    ");
    assert_snapshot!(with_wrappers("bash -c \"bash -c 'rm -rf /'\"; sudo env X=1 bash -c 'sudo rm y'"), @"
    rm -rf / via bash -c, bash -c
    rm y via sudo, env, bash -c, sudo
    ");
    assert_snapshot!(with_wrappers("bash <<'E'\nrm x\nE\nsh <<< 'rm y'; bash script.sh -c z; bash < in; sh"), @"
    rm x via bash
    rm y via sh
    bash script.sh -c z
    bash
    sh
    ");
    assert_snapshot!(with_wrappers("find . -name '*.o' -exec rm -f {} + -o -execdir chmod +x {} \\;; ls | xargs -n1 rm -rf; ls | grep '\\.o$' | xargs -I% mv % x/%"), @"
    find . -name *.o -exec rm -f {} + -o -execdir chmod +x {} ;
    rm -f ./**/*.o ./** via find
    chmod +x ./**/*.o ./** via find
    ls
    rm -rf $… via xargs
    ls
    grep …
    mv *.o x/*.o via xargs
    ");
    assert_snapshot!(with_wrappers("ssh -p 22 host 'rm -rf /'; ssh host uptime -p; docker exec -it c rm -rf /; docker run --rm img sh -c 'rm y'"), @"
    rm -rf / (remote) via ssh
    uptime -p (remote) via ssh
    docker exec -it c rm -rf /
    rm -rf / (remote) via docker
    docker run --rm img sh -c …
    rm y (remote) via docker, sh -c
    ");
    assert_snapshot!(with_wrappers("git submodule foreach 'git reset --hard'; git rebase -i --exec 'make test' HEAD~2; git bisect run ./x.sh a; tar -cf a.tar --checkpoint-action=exec='rm z' b"), @"
    git submodule foreach …
    git reset --hard via git
    git rebase -i --exec … HEAD~2
    make test via git
    x.sh a via git
    tar -cf a.tar … b
    rm z via tar
    ");
    assert_snapshot!(with_wrappers("bash -c \"$X\"; eval $Y; $Z x; sudo; env; exec > log; command -v git; sudo -l; time make"), @"
    bash -c $X
    eval $Y
    $Z x
    x (assumed) via $Z
    sudo
    env
    exec
    command -v git
    sudo -l
    make
    gap: part of the command is known only at run time: `bash -c`
    gap: part of the command is known only at run time: `eval`
    ");
    assert_snapshot!(with_wrappers("trap 'rm -rf x' EXIT; watch -n 5 git status; su -c 'rm x' me; busybox rm x; npx prettier -w ."), @"
    trap … EXIT
    git status via watch
    rm x via su -c
    rm x via busybox
    prettier -w . via npx
    rm -rf x via trap
    ");
}

#[test]
fn variables_set_by_commands_are_known() {
    assert_snapshot!(texts("read a b <<< 'x y z'; rm $a $b; IFS= read -r c <<< 'u v'; rm \"$c\"; read d < list; rm $d"), @"
    read a b
    rm x y z
    read -r c
    rm …
    read d
    rm $d
    ");
    assert_snapshot!(texts("printf -v f 'a/%s' b; rm $f; mkdir -p c && cd $_; true $_ | rm $_"), @"
    printf -v f … …
    rm a/b
    mkdir -p c
    cd c
    true …
    rm c
    ");
    assert_snapshot!(texts("bash -s a b <<'E'\nrm $2\nE\nbash -s <<< 'rm $1'"), @"
    rm b
    rm
    ");
}

#[test]
fn written_scripts_are_read_when_they_run() {
    assert_snapshot!(texts("echo 'rm x' > a.sh; cp a.sh b/; bash b/a.sh; ln -s a.sh c; sh c; BASH_ENV=a.sh bash -c true"), @"
    echo …
    cp a.sh b/
    bash b/a.sh
    rm x
    ln -s a.sh c
    sh c
    rm x
    true
    bash a.sh
    rm x
    ");
    assert_snapshot!(texts("printf 'all:\\n\\t@rm x\\n' | make -f -; ed <<< '!rm y'; psql -c '\\! rm z'"), @"
    printf …
    make -f -
    rm x
    ed
    rm y
    psql -c …
    rm z
    ");
}

/// Each command with the directories that it may run in.
fn with_directories(text: &str) -> String {
    let script = parse(text);
    let is_shown = |command: &&SimpleCommand| !command.words().is_empty() && !command.provenance.is_assumed;
    let commands = script.commands.iter().filter(is_shown);
    let directories_of = |command: &SimpleCommand| match command.directories().list() {
        Some(directories) => directories.iter().map(|directory| format!("[{directory}]")).collect::<Vec<_>>().join(" "),
        None => "anywhere".to_owned(),
    };
    let mut shown: Vec<_> = commands.map(|command| format!("{} {}", command.text(), directories_of(command))).collect();
    shown.extend(script.gaps.iter().map(|gap| format!("gap: {gap}")));
    shown.join("\n")
}

#[test]
fn directories_are_followed() {
    assert_snapshot!(with_directories("cd a && b; c; (cd d && e); f"), @"
    cd a []
    b [a]
    c [a] []
    cd d [a] []
    e [a/d] [d]
    f [a] []
    ");
    assert_snapshot!(with_directories("cd a || exit 1; b; cd c || { echo x; exit; }; d"), @"
    cd a []
    exit 1 []
    b [a]
    cd c [a]
    echo … [a]
    exit [a]
    d [a/c]
    ");
    assert_snapshot!(with_directories("set -e; cd a; cd ../b; c; cd -; d; cd; e; cd ~/x; f; cd /; g; cd $X; h"), @"
    set -e []
    cd a []
    cd ../b [a]
    c [a/../b]
    cd - [a/../b]
    d [a]
    cd [a]
    e [~]
    cd ~/x [~]
    f [~/x]
    cd / [~/x]
    g [/]
    cd $X [/]
    h anywhere
    ");
    assert_snapshot!(with_directories("pushd a && b; popd && c; cd x | d; e & cd y; f"), @"
    pushd a []
    b [a]
    popd [a] []
    c []
    cd x []
    d []
    e []
    cd y []
    f [y] []
    ");
    assert_snapshot!(with_directories("if a; then cd x; else cd y; fi; b; for i in 1 2; do cd ..; c; done; while d; do cd ..; done; e"), @"
    a []
    cd x []
    cd y []
    b [y] [] [x]
    cd .. [y] [] [x]
    c [y/..] [..] [x/..] [y] [] [x]
    cd .. [y/..] [..] [x/..] [y] [] [x]
    c anywhere
    d anywhere
    cd .. anywhere
    e anywhere
    ");
    assert_snapshot!(with_directories("bash -c 'cd x && a'; b; eval cd y; c; $(cd z; d) e; f() { cd w; }; f; g"), @"
    cd x []
    a [x]
    b []
    cd y []
    c [y] []
    cd z [y] []
    d [y/z] [z] [y] []
    … e [y] []
    cd w [y] []
    g [y/w] [w] [y] []
    ");
}

#[test]
fn variables_are_followed() {
    assert_snapshot!(texts("B=main; git push -f origin $B; B=x git push $B; export C=y; echo; a $C ${C} \"$C\" $C/z ${C:-d} ${D:-e}"), @"
    git push -f origin main
    git push main
    export C=y
    echo
    a y y y y/z y ${D:-e}
    a y y y y/z y e
    ");
    assert_snapshot!(texts("X='rm -rf /'; $X; \"$X\"; Y=$X; $Y z; A=(1 2); b $A; C+=1; d $C; IFS=:; e $X"), @"
    rm -rf /
    …
    rm -rf / z
    b 1
    d $C
    e …
    ");
    assert_snapshot!(texts("if a; then V=1; else V=2; fi; b $V; W=1; if c; then W=2; fi; d $W; T=1; if e; then T=1; fi; f $T"), @"
    a
    b 2
    b 1
    c
    d 1
    d 2
    e
    f 1
    ");
    assert_snapshot!(texts("V=1; (V=2; a $V); b $V; V=3 | c; d $V; read V; e $V; W=1; while f; do g $W; W=2; done; h $W"), @"
    a 2
    b 1
    c
    d 1
    read V
    e $V
    f
    g $W
    g 1
    h $W
    h 2
    h 1
    ");
    assert_snapshot!(texts("for f in a 'b c' {d,e}; do rm \"$f\" $f; done; for g in *.txt; do rm $g; done; for h in $(ls); do rm $h; done"), @"
    rm a a
    rm … b c
    rm d d
    rm e e
    rm *.txt
    ls
    rm $h
    ");
    assert_snapshot!(texts("f() { rm -rf \"$1\" $2; shift; g $1; }; f / x; h() { echo \"$@\"; i \"$@\"; }; h a 'b c'; bash -c 'rm $1 $0' name /etc"), @"
    rm -rf / x
    shift
    g x
    echo … …
    i a …
    rm /etc name
    ");
    assert_snapshot!(texts("cat $(echo .env) `printf '%s/%s' a b` \"$(cat <<< x)\" $(ls); cd /x; a $PWD/y $HOME/z $OLDPWD"), @"
    echo …
    printf … … …
    cat
    ls
    cat .env a/b x $(ls)
    cd /x
    a $PWD/y ~/z $OLDPWD
    ");
    assert_snapshot!(texts("source x; a $HOME; V=1; eval \"$Z\"; b $V; f() { f; }; f; g() { rm x; }"), @"
    source x
    a $HOME
    eval $Z
    b $V
    b 1
    rm x
    gap: part of the command is known only at run time: `eval`
    gap: the command is nested more than 64 levels deep (fewer for `case` and `[[ … ]]`)
    ");
}

#[test]
fn certain_output_is_read() {
    assert_snapshot!(with_wrappers("echo cm0gLXJmIC8= | base64 -d | sh; printf 'rm -rf %s\\n' / | bash; echo 726d2078 | xxd -r -p | sh -s"), @"
    echo …
    base64 -d
    rm -rf / via sh
    printf … …
    rm -rf / via bash
    echo …
    xxd -r -p
    rm x via sh
    ");
    assert_snapshot!(with_wrappers("echo / | xargs rm -rf; echo a b | xargs -n1 rm; curl x | sh; cat <<< 'rm y' | sh; xargs cat <<< .env"), @"
    echo …
    rm -rf / via xargs
    echo … …
    rm a via xargs
    rm b via xargs
    curl x
    sh
    cat
    rm y via sh
    cat .env via xargs
    gap: part of the command is known only at run time: `sh`
    ");
}

#[test]
fn exponential_growth_is_bounded() {
    let doubled = format!("x=ab; {} a $x", "x=$x$x; ".repeat(64));
    let rounds = "for a in {1..30}; do ".repeat(6) + "b $(c); " + &"done; ".repeat(6);
    let functions = (0..60).map(|level| format!("f{level}() {{ f{0} x; f{0} y; }}; ", level + 1)).collect::<Vec<_>>();
    for text in
        ["f() { f; f; }; f".to_owned(), doubled, rounds, functions.concat() + "f0", "a() { eval a a; }; a".to_owned()]
    {
        let script = parse(&text);
        assert!(script.commands.len() <= 4000, "{}", script.commands.len());
        assert!(script.commands.iter().all(|command| command.text().len() < 1024 * 1024));
    }
}

/// Without the limits, the walk of these scripts would not end, or would need minutes and gigabytes.
#[test]
fn the_walk_stops_at_its_budget() {
    let loops =
        |body: &str| "for a in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do ".repeat(20) + body + &"; done".repeat(20);
    let many = |part: &dyn Fn(usize) -> String, count: usize| (0..count).map(part).collect::<String>();
    let variables = many(&|number| format!("v{number}=1 "), 5000) + "; ";
    let levels = |body: &dyn Fn(usize) -> String| many(&|level| format!("f{level}() {{ {}; }}; ", body(level + 1)), 40);
    let texts = [
        // Loops with different bodies. Some of the bodies run no command.
        loops("b"),
        loops("[[ a == b ]]"),
        loops("((1))"),
        loops("case a in b) ;; esac"),
        loops("f() { a; }"),
        loops("a=$b"),
        loops(&format!("[[ a == '{}' ]]", "b".repeat(50_000))),
        loops(&format!("echo {}", "b ".repeat(20_000))),
        // Functions that call the next function twice: in lists, in words and in tests.
        levels(&|next| format!("f{next}; f{next}")) + "f0",
        levels(&|next| format!("echo $(f{next}) $(f{next})")) + "f0",
        levels(&|next| format!("case $(f{next}) in $(f{next})) f{next};; esac")) + "f0",
        levels(&|next| format!("if f{next}; then f{next}; else f{next}; fi")) + "f0",
        // A script that runs itself twice.
        "x='eval \"$x\"; eval \"$x\"'; eval \"$x\"".to_owned(),
        // Many variables, and many control-flow paths.
        variables.clone() + &many(&|number| format!("if a; then w{number}=1; fi; "), 1000),
        variables.clone() + &many(&|number| format!("a && w{number}=1 || "), 1000) + "b",
        format!("export {variables}") + &":; ".repeat(1900),
        // Many found paths or arguments, used many times.
        format!("set -- {}; {}", "a ".repeat(10_000), "echo \"$@\"; ".repeat(1900)),
        format!("find {} {}", many(&|number| format!("a{number} "), 5000), "| sort ".repeat(1900)),
        format!("cp {}", "-t a b ".repeat(9000)),
    ];
    for text in texts {
        let script = parse(&text);
        let start = text.get(..60).unwrap_or(&text);
        assert!(!script.complete, "{start}");
        let is_bound = |gap: &Gap| matches!(gap, Gap::TooMuchWork | Gap::TooManyCommands | Gap::TooDeep);
        assert!(script.gaps.iter().any(is_bound), "{start}: {:?}", script.gaps);
    }
}

#[test]
fn one_line_programs_are_read() {
    assert_snapshot!(with_wrappers("python3 -c \"import os; os.system('rm -rf /')\"; node -e \"require('child_process').execSync('rm x')\""), @"
    python3 -c …
    rm -rf / via python3
    node -e …
    rm x via node
    ");
    assert_snapshot!(with_wrappers("python3 -c 'print(1)'; perl -e 'unlink $x'; python3 -c \"$X\"; ruby -e 'puts 1'; awk '{print}' x"), @"
    python3 -c …
    perl -e …
    python3 -c …
    ruby -e …
    awk … x
    gap: part of the command is known only at run time: `python3`
    ");
    // Input that is piped into a program with a script of its own is data.
    assert_snapshot!(with_wrappers("cat x | python3 -m json.tool; a | python3 -c 'print(1)'; a | perl -pe s/x/y/; a | node -e 'console.log(1)'; a | python3 x.py; a | bash x.sh; a | bash -c b"), @"
    cat x
    python3 -m json.tool
    a
    python3 -c …
    a
    perl -pe …
    a
    node -e …
    a
    python3 x.py
    a
    bash x.sh
    a
    b via bash -c
    ");
    assert_snapshot!(with_wrappers("python3 - <<E\nimport os\nos.system('ls')\nos.system('rm -rf /')\nE"), @"
    python3 -
    ls via python3
    rm -rf / via python3
    ");
    assert_snapshot!(with_wrappers("a | python3; a | python3 -; a | bash -s x; python3 <<< 'print(1)'"), @"
    a
    python3
    a
    python3 -
    a
    bash -s x
    python3
    gap: part of the command is known only at run time: `python3`
    gap: part of the command is known only at run time: `bash`
    ");
}

#[test]
fn listed_paths_reach_other_commands() {
    assert_snapshot!(texts("files=(build/*.o); rm \"${files[@]}\"; mapfile -t old < <(ls dist/*.tgz | tail -n +3); rm \"${old[@]}\""), @"
    rm build/*.o
    ls dist/*.tgz
    tail -n +3
    mapfile -t old
    rm dist/*.tgz
    ");
    assert_snapshot!(texts("while read -r f; do rm \"$f\"; done < <(find build -name x); while read -r f; do rm \"$f\"; done < list"), @"
    find build -name x
    read -r f
    rm $f
    read -r f
    rm $f
    ");
    assert_snapshot!(texts("find . -name '*.js' | sed 's/\\.js$//' | xargs -I% mv %.js %.ts; ls src/ | xargs -I{} rm src/{}/x; ls | sed 's|^|/|' | xargs rm"), @"
    find . -name *.js
    sed …
    mv ./**/*.js ./**/*.ts
    ls src/
    rm src/*/x
    ls
    sed …
    rm /*
    ");
    assert_snapshot!(texts("git status -s | awk '{print $2}' | xargs rm; ls | awk '{print \"/\" $1}' | xargs rm; ls -A | xargs rm"), @"
    git status -s
    awk …
    rm ./*
    ls
    awk …
    rm $…
    ls -A
    rm $… .*
    ");
}

#[test]
fn files_of_people_are_not_read() {
    assert_snapshot!(with_wrappers("bash -c \"$(cat a.sh)\"; eval \"$(cat a.sh)\"; source <(cat a.sh)"), @"
    cat a.sh
    bash -c …
    cat a.sh
    eval …
    cat a.sh
    source <(…)
    ");
    assert_snapshot!(with_wrappers("echo 'rm x' > a.sh; bash -c \"$(cat a.sh)\"; eval \"$(cat a.sh)\""), @"
    echo …
    cat a.sh
    rm x via bash -c
    cat a.sh
    rm x via eval
    ");
    assert_snapshot!(with_wrappers("eval \"rm x; $(cat a.sh)\""), @"
    cat a.sh
    eval …
    gap: part of the command is known only at run time: `eval`
    ");
    assert_snapshot!(with_wrappers("eval \"$(ssh-agent -s)\"; eval \"$(tools/ssh-agent -s)\""), @"
    ssh-agent -s
    eval …
    ssh-agent -s
    eval …
    gap: part of the command is known only at run time: `eval`
    ");
}

#[test]
fn a_glob_as_program_is_unknown() {
    assert_snapshot!(with_wrappers("for t in tests/*; do $t --help; done"), @"$… --help");
    assert_snapshot!(with_wrappers("for t in /bin/g*; do $t --help; done"), @"
    g* --help
    gap: shells might read the command differently: it has a glob instead of a program
    ");
}
