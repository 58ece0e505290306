//! Strings that are masked, and strings that are not.

use proptest::prelude::*;
use serde_json::json;
use store::{Masked, mask};

/// Joins the parts of a secret, which are separate so that secret scanners do not report this file.
fn join(parts: &[&str]) -> String {
    parts.concat()
}

#[test]
fn secrets_are_masked() {
    let random_word = "Ab3dEf6hIj9lMn2pQr5tUv8xYz1bCd4fGh7j";
    let tokens = [
        join(&["AK", "IAIOSFODNN7EXAMPLE"]),
        join(&["AS", "IAIOSFODNN7EXAMPLE"]),
        join(&["gh", "p_", random_word]),
        join(&["github", "_pat_", random_word]),
        join(&["gl", "pat-", random_word]),
        join(&["xo", "xb-1234567890-abcdefghij"]),
        join(&["s", "k-", random_word]),
        join(&["s", "k-ant-api03-", random_word]),
        join(&["s", "k-proj-", random_word]),
        join(&["AI", "za", random_word]),
        join(&["np", "m_", random_word]),
        join(&["py", "pi-", random_word]),
        join(&["sk", "_live_", random_word]),
        join(&["ey", "JhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxMjM0NTY3ODkwIn0.", "dozjgNryP4J3jVmNHl0w5N"]),
    ];
    for token in &tokens {
        for (text, masked) in [
            (format!("echo {token} | tool"), "echo *** | tool"),
            (format!("tool '{token}'"), "tool '***'"),
            (format!("see ({token}), then"), "see (***), then"),
            (token.clone(), "***"),
        ] {
            assert_eq!(mask(&text), masked, "{text}");
        }
    }
    let cases = [
        ("GITHUB_TOKEN=abc gh pr list", "GITHUB_TOKEN=*** gh pr list"),
        ("export DB_PASSWORD='hunter 2' && run", "export DB_PASSWORD='***' && run"),
        ("export DB_PASSWORD=\"hunter 2\"; run", "export DB_PASSWORD=\"***\"; run"),
        ("PGPASSWORD=hunter2 psql -h db", "PGPASSWORD=*** psql -h db"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI aws s3 ls", "AWS_SECRET_ACCESS_KEY=*** aws s3 ls"),
        ("API_KEY=x", "API_KEY=***"),
        ("KEY=4f8a9c0d1e2b3a4f5c6d make sign", "KEY=*** make sign"),
        ("SECRET_KEY_BASE=abc rails s", "SECRET_KEY_BASE=*** rails s"),
        ("DB_PASS=abc run", "DB_PASS=*** run"),
        ("TOKEN=ab\"c d\"e run", "TOKEN=*** run"),
        ("bash -c \"TOKEN=abc run\" && echo \"done\"", "bash -c \"TOKEN=*** run\" && echo \"done\""),
        ("tool --password hunter2 --verbose", "tool --password *** --verbose"),
        ("tool --token=abc --verbose", "tool --token=*** --verbose"),
        ("tool --api-key \"abc def\" x", "tool --api-key \"***\" x"),
        ("tool -password hunter2", "tool -password ***"),
        ("tool --token \\\n  abc", "tool --token \\\n  ***"),
        ("curl -u me:hunter2 https://x.test", "curl -u me:*** https://x.test"),
        ("curl -ume:hunter2 https://x.test", "curl -ume:*** https://x.test"),
        ("curl --user 'me:hunter2' https://x.test", "curl --user 'me:***' https://x.test"),
        ("curl -H 'Authorization: Bearer abc.def' x", "curl -H 'Authorization: Bearer ***' x"),
        ("curl -H \"Authorization: Basic dXNlcjpwYXNz\" x", "curl -H \"Authorization: Basic ***\" x"),
        ("curl -H 'authorization: 4f8a9c0d1e2b3a4f5c6d' x", "curl -H 'authorization: ***' x"),
        ("curl -H 'X-Api-Key: abc12345' x", "curl -H 'X-Api-Key: ***' x"),
        ("curl -H 'Cookie: a=b; c=d' x", "curl -H 'Cookie: ***' x"),
        ("use Bearer 4f8a9c0d1e2b3a4f5c6d now", "use Bearer *** now"),
        ("curl -d '{\"password\": \"hunter2\"}' x", "curl -d '{\"password\": \"***\"}' x"),
        ("curl -d \"{\\\"password\\\":\\\"hunter2\\\"}\" x", "curl -d \"{\\\"password\\\":\\\"***\\\"}\" x"),
        ("curl 'https://x.test/?access_token=abc&page=2'", "curl 'https://x.test/?access_token=***&page=2'"),
        ("git clone https://me:hunter2@x.test/a.git", "git clone https://me:***@x.test/a.git"),
        ("git clone https://4f8a9c0d1e2b3a4f5c6d@x.test/a.git", "git clone https://***@x.test/a.git"),
        ("psql postgres://u:p@ss@db/x", "psql postgres://u:***@db/x"),
        ("curl -u AKIAIOSFODNN7EXAMPLE:hunter2 x", "curl -u ***:*** x"),
        ("run `tool --token abc`", "run `tool --token ***`"),
        ("mysql -uroot -phunter2 db", "mysql -uroot -p*** db"),
        ("docker login -u me -p hunter2 x.test", "docker login -u me -p *** x.test"),
        ("sshpass -p hunter2 ssh x", "sshpass -p *** ssh x"),
        (
            "kubectl create secret generic x --from-literal=password=abc",
            "kubectl create secret generic x --from-literal=password=***",
        ),
        ("npm config set //registry.npmjs.org/:_authToken=abc", "npm config set //registry.npmjs.org/:_authToken=***"),
        ("password = \"hunter2\"", "password = \"***\""),
        ("password: hunter2", "password: ***"),
        ("client_secret: 'abc'", "client_secret: '***'"),
        ("AccountKey=abc+/=;EndpointSuffix=x", "AccountKey=***;EndpointSuffix=x"),
        ("PASSWORD=größe run", "PASSWORD=*** run"),
        ("/tmp/a?token=abc", "/tmp/a?token=***"),
    ];
    for (text, masked) in cases {
        assert_eq!(mask(text), masked, "{text}");
    }
    let key = format!("-----BEGIN RSA {0} KEY-----\n{1}\n{1}\n-----END RSA {0} KEY-----", "PRIVATE", random_word);
    assert_eq!(
        mask(&format!("cat <<E\n{key}\nE")),
        "cat <<E\n-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----\nE"
    );
    let truncated = key.split("-----END").next().unwrap();
    assert_eq!(mask(truncated), "-----BEGIN RSA PRIVATE KEY-----***");
}

#[test]
fn strings_without_secrets_are_unchanged() {
    let cases = [
        "",
        "cargo test --workspace",
        "git commit -m \"token handling\"",
        "git commit -m 'password: improve hashing'",
        "git commit -m 'fix(token): refresh'",
        "git commit -m 'authorization: fix roles for admins'",
        "cat secrets.md",
        "ls src/secret/token/password.rs",
        "grep -rn 'password=' src",
        "grep -E 'password=|token=' src 'other file'",
        "tool --password-file x",
        "docker login --password-stdin -u me x.test",
        "tool --token-budget 5000",
        "MAX_TOKENS=100 run",
        "PASSWORD_FILE=/run/secrets/db run",
        "TOKEN=$TOKEN run",
        "TOKEN=$(gh auth token) run",
        "TOKEN=\"${OTHER}\" run",
        "TOKEN= run",
        "tool --token \"$TOKEN\"",
        "tool --token --verbose",
        "tool --token <token>",
        "curl -H \"Authorization: Bearer $TOKEN\" x",
        "curl -u \"$WHO:$PASS\" x",
        "curl -u me x",
        "docker run -u 1000:1000 -p 8080:80 x",
        "mkdir -p a/b",
        "docker build --secret id=npm,src=.npmrc .",
        "docker pull registry.test/team/secret:v1234567",
        "aws secretsmanager get-secret-value --secret-id prod/db",
        "kubectl get secret my-secret",
        "git clone ssh://git@github.com/a/b.git",
        "git clone https://github.com/a/b.git",
        "curl http://localhost:8080/a@b:c",
        "psql postgres://u:$PASS@db/x",
        "PWD=/srv/x OLDPWD=/srv run",
        "key=value sort_key=name run",
        "ssh -i ~/.ssh/id_ed25519 --key certs/client-2024-01.pem x",
        "let token = parser.next();",
        "if token == \"abc\" { return }",
        "if [ \"$TOKEN\" = \"abc\" ]; then echo; fi",
        "token: None",
        "{\"token\": null, \"password\": \"\"}",
        "python -c \"print('Bearer of bad news')\"",
        "pip install sk-learn-contrib-something-long",
        "echo AKIA and eyJ and ghp_ and sk-",
        "grep -r \"-----BEGIN RSA PRIVATE KEY-----\" . && echo done with the search",
        "sha256sum 4f8a9c0d1e2b3a4f5c6d4f8a9c0d1e2b3a4f5c6d",
        "git show 4f8a9c0d1e2b3a4f5c6d",
        "tokenize --passes=3 --keys=a,b",
        "größe: naïve 日本語 = 'ok'",
        "export TOKEN='***'",
    ];
    for text in cases {
        assert_eq!(mask(text), text);
    }
}

#[test]
fn fields_with_the_name_of_a_secret_are_masked() {
    let value = json!({
        "password": "hunter2", "api_key": "x", "key": "name", "count": 3, "token": null, "tokens": "many",
        "deep": [{"clientSecret": "x", "note": "TOKEN=abc"}],
    });
    let masked = json!({
        "password": "***", "api_key": "***", "key": "name", "count": 3, "token": null, "tokens": "many",
        "deep": [{"clientSecret": "***", "note": "TOKEN=***"}],
    });
    assert_eq!(mask::mask_json(&value).as_value(), &masked);
    assert_eq!(mask::mask_json(&masked).as_value(), &masked);
}

#[test]
fn masking_takes_linear_time() {
    for hostile in
        ["TOKEN=", "a:", "://", "-u ", "--token ", "'\"", "-----BEGIN PRIVATE KEY-----", "eyJ.", "password: "]
    {
        let text = hostile.repeat(200_000 / hostile.len());
        let started = std::time::Instant::now();
        mask(&text);
        assert!(started.elapsed().as_secs() < 10, "{hostile}");
    }
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("TOKEN"),
        Just("password"),
        Just("--api-key"),
        Just("key"),
        Just("="),
        Just(" = "),
        Just(": "),
        Just(":"),
        Just(" "),
        Just("\""),
        Just("'"),
        Just("\\\""),
        Just("\\"),
        Just("\n"),
        Just("://"),
        Just("@"),
        Just("curl -u "),
        Just("mysql -p"),
        Just("login -p "),
        Just("Authorization: Bearer "),
        Just("Cookie: "),
        Just("***"),
        Just("*"),
        Just("abc123"),
        Just("4f8a9c0d1e2b3a4f5c6d"),
        Just("ghp_Ab3dEf6hIj9lMn2pQr5tUv8xYz1b"),
        Just("sk-"),
        Just("$X"),
        Just("-----BEGIN PRIVATE KEY-----"),
        Just("-----END"),
        Just("eyJhbGciOiJIUzI1NiJ9."),
        Just("é"),
        Just("&"),
        Just(";"),
        Just("AKIAIOSFODNN7EXAMPLE"),
        Just("-"),
        Just("_"),
        Just("/"),
        Just("Basic "),
        Just("a"),
        Just("."),
    ];
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn masking_is_idempotent(text in pieces()) {
        let once = mask(&text).into_owned();
        prop_assert_eq!(mask(&once), once.as_str());
    }

    #[test]
    fn any_text_can_be_masked(text in any::<String>()) {
        let once = mask(&text).into_owned();
        prop_assert_eq!(mask(&once), once.as_str());
    }
}

#[test]
fn every_example_is_a_secret() {
    for example in mask::example_secrets() {
        assert_eq!(mask(&format!("run --token {example}")), "run --token ***");
    }
    let by_shape = mask::example_secrets().filter(|example| mask(&format!("echo {example}")) == "echo ***").count();
    assert!(by_shape >= 38, "{by_shape} are known by their shape");
}

#[test]
fn deserializing_a_masked_string_masks_it_again() {
    let command = format!("deploy --token {}", mask::example_secrets().next().unwrap());
    let json = json!({ "command": command }).to_string();
    let read: std::collections::BTreeMap<String, Masked<'static>> = serde_json::from_str(&json).unwrap();
    assert_eq!(read["command"], "deploy --token ***");
    assert_eq!(serde_json::to_string(&read).unwrap(), r#"{"command":"deploy --token ***"}"#);
}

#[test]
fn only_a_string_without_secrets_is_unchanged() {
    assert_eq!(mask("cargo test").unchanged(), Some("cargo test"));
    assert_eq!(mask("API_KEY=q8Zt4vX1mN7c ./deploy").unchanged(), None);
}
