//! Measures how long it takes to parse a command and find its effects: `cargo bench --package linchpin-shell`, also
//! part of `cargo xtask bench`.
//!
//! The commands are typical commands of agents, and long commands of each kind. Doubling the length of a long command
//! must not take much more than twice the time.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]
#![expect(clippy::disallowed_types, reason = "a benchmark measures time")]

use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: usize = 2000;

const TYPICAL: &[&str] = &[
    "ls -la",
    "git status --short",
    "cargo test --workspace 2>&1 | tail -40",
    "cd crates/engine && cargo clippy --all-targets -- -D warnings",
    "grep -rn 'fn parse' src --include='*.rs' | head -20",
    "git add -A && git commit -m 'fix: a message with words in it' && git push -u origin HEAD",
    "sed -i 's/foo/bar/g' src/main.rs && git diff --stat",
    "for f in src/*.rs; do wc -l \"$f\"; done | sort -n | tail",
    "find . -name '*.tmp' -not -path './node_modules/*' -delete",
    "python3 -c \"import json; print(json.load(open('package.json'))['version'])\"",
    "curl -s https://api.example.com/v1/items | jq -r '.[] | .name'",
    "npm run build && npm test -- --watch=false",
    "git commit -m \"$(cat <<'EOF'\nfeat: understand commands\n\nIt reads them as the shell does.\nEOF\n)\"",
    "docker compose up -d db && sleep 2 && docker compose logs --tail=50 db",
    "rm -rf target/tmp && mkdir -p target/tmp && cp -r assets target/tmp/",
    "for service in api web worker; do docker compose build \"$service\" && docker compose up -d \"$service\"; done",
    "for i in {1..30}; do curl -sf http://localhost:8080/health && break || sleep 1; done",
    "git log --oneline -20 | while read -r hash subject; do echo \"$hash: $subject\"; done",
    "while ! nc -z localhost 5432; do sleep 0.5; done; npm run migrate",
    "cat > config/app.yml <<'EOF'\nserver:\n  port: 8080\n  host: 0.0.0.0\nlog:\n  level: info\nEOF\ncat config/app.yml",
    "python3 - <<'EOF'\nimport json\nwith open('package.json') as f:\n    data = json.load(f)\n\
     data['version'] = '1.2.3'\nwith open('package.json', 'w') as f:\n    json.dump(data, f, indent=2)\nEOF",
    "export NODE_ENV=test CI=1; export DATABASE_URL=postgres://localhost:5432/test\nnpm ci && npm run lint && npm test",
    "set -euo pipefail; export PATH=\"$HOME/.local/bin:$PATH\"; VERSION=$(git describe --tags); echo \"$VERSION\" > VERSION",
    "cd frontend && npm ci && npm run lint && npm run typecheck && npm test && npm run build && cd .. && git status",
    "if [ -f .nvmrc ]; then nvm use; else echo 'no .nvmrc'; fi && node --version && npm --version",
];

/// The long commands: for each, the part that is repeated, and the separator between the repetitions.
const LONG: &[(&str, &str)] = &[
    ("echo word", "; "),
    ("word", " "),
    ("\"$X\"", " "),
    ("cat", " | "),
    ("a='b c'", "; "),
    ("# comment", "\n"),
    ("$(echo a)", " "),
    ("{a,b}", " "),
    ("cd a", " && "),
    ("export a=b", "; "),
    ("if a; then b=c; fi", "; "),
    ("while a; do b=c; done", "; "),
    ("cat <<E > ${f}\na $b\nE", "\n"),
];

fn main() {
    let mut medians: Vec<Duration> = TYPICAL.iter().map(|command| median(command, ROUNDS)).collect();
    medians.sort();
    let middle = medians.get(medians.len() / 2).copied().unwrap_or_default();
    let slowest = medians.last().copied().unwrap_or_default();
    println!("a typical command: median {} us, slowest {} us", microseconds(middle), microseconds(slowest));
    for (part, separator) in LONG {
        let command = |count: usize| vec![*part; count].join(separator);
        let (short, long) = (median(&command(200), 50), median(&command(400), 50));
        let ratio = long.as_secs_f64() / short.as_secs_f64();
        println!("400 / 200 of `{}`: {ratio:.2} x ({} us)", part.escape_default(), microseconds(long));
    }
}

fn microseconds(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e6)
}

/// Returns the median time for parsing a command and finding its effects.
fn median(command: &str, rounds: usize) -> Duration {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let started = Instant::now();
            let script = shell::parse(black_box(command));
            black_box((script.effects(), script.rewrites()));
            started.elapsed()
        })
        .collect();
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
