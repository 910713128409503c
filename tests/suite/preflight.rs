//! `.ci/preflight` and `.ci/change`, with stand-ins for the AWS CLI.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value as Json, json};
use shop::read;
use uuid::Uuid;

/// An account. Each file answers one question; without the file, the account is one that has everything.
const ACCOUNT: &str = r#"#!/bin/sh
say() { if [ -f "$STAND_IN/$1" ]; then cat "$STAND_IN/$1"; else printf "$2\n"; fi; }
case "$*" in
    --version) say version 'aws-cli/2.31.0 Python/3.13' ;;
    'sts get-caller-identity '*) say account 111122223333 ;;
    'lambda get-account-settings '*) say concurrency 1000 ;;
    's3control get-public-access-block --account-id 111122223333 '*)
        [ -f "$STAND_IN/block" ] || { echo 'An error occurred (NoSuchPublicAccessBlockConfiguration)' >&2; exit 254; }
        cat "$STAND_IN/block"
        ;;
    'sesv2 get-email-identity --email-identity shop.example '*) say verified True ;;
    'sesv2 get-account '*) say production True ;;
    'logs describe-resource-policies '*) say policies '1\t400' ;;
    'iam get-account-summary '*) say roles '10\t1000' ;;
    *)
        [ ! -f "$STAND_IN/lacks-$1" ] || { echo "Could not connect to the endpoint URL: https://$1" >&2; exit 255; }
        ;;
esac
"#;

/// A stack that keeps the parameters that it is updated with.
const STACK: &str = r#"#!/bin/sh
case "$*" in
    'cloudformation describe-stacks --stack-name till-trial '*.StackStatus) cat "$STAND_IN/status" ;;
    'cloudformation describe-stacks --stack-name till-trial '*)
        printf 'Shop\topen\nCallbackUrls\thttp://a/\nTableIs\tcreated\nSeller\t\n'
        ;;
    'cloudformation update-stack --stack-name till-trial --use-previous-template --parameters '*) printf %s "$7" >"$STAND_IN/changed" ;;
    'cloudformation wait stack-update-complete --stack-name till-trial') [ ! -f "$STAND_IN/fails" ] ;;
    *) exit 1 ;;
esac
"#;

/// A checkout with one script, and the stand-ins.
struct Checkout(PathBuf);

impl Checkout {
    fn create(script: &str, aws: &str) -> Self {
        let checkout = Self(std::env::temp_dir().join(format!("till-preflight-{}", Uuid::new_v4())));
        checkout.write(script, &read(script));
        checkout.write("samconfig.toml", &read("samconfig.toml"));
        checkout.write("bin/aws", aws);
        checkout.write("status", "UPDATE_COMPLETE");
        for tool in ["cargo", "cargo-lambda", "sam", "jq", "curl", "openssl", "git"] {
            checkout.write(&format!("bin/{tool}"), "#!/bin/sh\n");
        }
        checkout
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it is created");
        fs::write(&path, text).expect("it is written");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("it may be executed");
    }

    fn run(&self, shell: &[&str], script: &str, arguments: &[&str]) -> Output {
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]).arg(self.0.join(script)).args(arguments);
        command.env("PATH", format!("{}:/usr/bin:/bin", self.0.join("bin").display()));
        command
            .env("STAND_IN", &self.0)
            .env("AWS_REGION", "eu-central-1")
            .env("STACK", "till-trial")
            .env_remove("STAGE");
        command.output().expect("it runs")
    }

    /// What `.ci/preflight` prints, and whether the account is ready.
    fn preflight(&self) -> (String, bool) {
        let done = self.run(&["sh"], ".ci/preflight", &[]);
        assert_eq!(String::from_utf8_lossy(&done.stderr), "");
        (String::from_utf8(done.stdout).expect("a text"), done.status.success())
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn an_account_that_has_everything_is_ready() {
    let (said, is_ready) = Checkout::create(".ci/preflight", ACCOUNT).preflight();
    let notes: Vec<_> = said.lines().filter(|line| !line.starts_with("ok ")).collect();
    assert!(is_ready && notes.len() == 1 && notes[0].contains("50 sign-in mails"), "{said}");
}

#[test]
fn each_limit_of_a_new_account_is_named_with_what_to_do() {
    for (file, answer, advice, is_ready) in [
        ("concurrency", "10", "write \"AccountConcurrency=10\" into samconfig.toml", true),
        ("block", "True", "set ImagesUrl", false),
        ("production", "False", "request production access", true),
        ("policies", "3\t5000", "aws logs put-resource-policy", true),
        ("policies", "10\t0", "aws logs delete-resource-policy", false),
        ("roles", "950\t1000", "raise the quota", false),
        ("lacks-scheduler", "", "The Region has no scheduler. Choose another Region.", false),
        ("version", "aws-cli/1.45.11 Python/3.11", "need 2.12", true),
        ("version", "aws-cli/2.9.19 Python/3.11", "need 2.12", true),
    ] {
        let checkout = Checkout::create(".ci/preflight", ACCOUNT);
        checkout.write(file, answer);
        let (said, ready) = checkout.preflight();
        let mark = if is_ready { "note  " } else { "STOP  " };
        assert!(said.lines().any(|line| line.starts_with(mark) && line.contains(advice)), "{file} {answer}: {said}");
        assert_eq!(ready, is_ready, "{file} {answer}: {said}");
    }
}

#[test]
fn what_is_filled_in_is_looked_at() {
    let checkout = Checkout::create(".ci/preflight", ACCOUNT);
    checkout.write("block", "True");
    checkout.write("verified", "False");
    let lines = "parameter_overrides = [\n    \"ImagesUrl=https://images.example\",\n    \"MailIdentityArn=arn:aws:ses:eu-central-1:1:identity/shop.example\",";
    checkout.write("samconfig.toml", &read("samconfig.toml").replacen("parameter_overrides = [", lines, 1));
    let (said, is_ready) = checkout.preflight();
    assert!(!is_ready && said.contains("ok    the account forbids public buckets, and ImagesUrl is set"), "{said}");
    assert!(said.contains("STOP  shop.example is not verified"), "{said}");
}

#[test]
fn any_shell_closes_the_shop_and_keeps_all_other_parameters() {
    let shells: [&[&str]; 4] = [&["sh"], &["dash"], &["bash"], &["bash", "--posix"]];
    for shell in shells.iter().filter(|shell| Command::new(shell[0]).arg("-c").arg(":").status().is_ok()) {
        let checkout = Checkout::create(".ci/change", STACK);
        let done =
            checkout.run(shell, ".ci/change", &["Shop=closed", "CallbackUrls=http://a/,http://b/", "Seller=A \"B\""]);
        assert!(done.status.success(), "{shell:?}: {done:?}");
        let changed = fs::read_to_string(checkout.0.join("changed")).expect("an update");
        let changed: Json = serde_json::from_str(&changed).expect("JSON");
        let expected = json!([
            { "ParameterKey": "Shop", "ParameterValue": "closed" },
            { "ParameterKey": "CallbackUrls", "ParameterValue": "http://a/,http://b/" },
            { "ParameterKey": "TableIs", "UsePreviousValue": true },
            { "ParameterKey": "Seller", "ParameterValue": "A \"B\"" },
        ]);
        assert_eq!(changed, expected, "{shell:?}");
    }
}

#[test]
fn a_change_that_changes_nothing_or_fails_is_told() {
    let checkout = Checkout::create(".ci/change", STACK);
    let run = |argument: &str| checkout.run(&["sh"], ".ci/change", &[argument]);
    let done = run("Shop=open");
    assert!(done.status.success() && !checkout.0.join("changed").exists(), "{done:?}");
    for argument in ["Shoop=closed", "=closed", "closed"] {
        assert!(!run(argument).status.success() && !checkout.0.join("changed").exists(), "{argument}");
    }
    for (status, advice) in [
        ("UPDATE_IN_PROGRESS", "Close the shop"),
        ("UPDATE_ROLLBACK_IN_PROGRESS", "try again"),
        ("UPDATE_ROLLBACK_FAILED", "CloudFormation cannot roll back"),
    ] {
        checkout.write("status", status);
        let done = run("Shop=closed");
        let told = String::from_utf8_lossy(&done.stderr);
        assert!(told.contains(status) && told.contains(advice) && !checkout.0.join("changed").exists(), "{told}");
        assert!(!done.status.success());
    }
    // Somebody else asked for the same, or the operator did, and stopped waiting.
    checkout.write("status", "UPDATE_IN_PROGRESS");
    let done = run("Shop=open");
    assert!(done.status.success() && String::from_utf8_lossy(&done.stdout).contains("waiting"), "{done:?}");
    checkout.write("fails", "");
    assert!(!run("Shop=open").status.success() && !checkout.0.join("changed").exists(), "its end is not awaited");
    fs::remove_file(checkout.0.join("fails")).expect("a file");
    checkout.write("status", "UPDATE_ROLLBACK_COMPLETE");
    checkout.write("fails", "");
    assert!(!run("Shop=closed").status.success() && checkout.0.join("changed").exists());
}
