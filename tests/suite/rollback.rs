//! `.ci/pack` and `.ci/deploy`, with stand-ins for `sam`, `aws` and `curl`: a build that was deployed is kept under its
//! commit, and is deployed by its commit again.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use shop::read;
use uuid::Uuid;

/// Copies the folder of the template to `deployed`, and its own arguments to `arguments`.
const SAM: &str = r#"#!/usr/bin/env bash
[[ $1 == deploy && $2 == --template-file ]] || exit 1
rm -rf "$STAND_IN/deployed" && cp -r "$(dirname "$3")" "$STAND_IN/deployed"
echo "${@:4}" >"$STAND_IN/arguments"
"#;

/// A bucket, and a stack with its address.
const AWS: &str = r#"#!/usr/bin/env bash
case "$*" in
    "s3 cp --no-progress s3://"*" -") cat "$STAND_IN/${4#s3://}" ;;
    "s3 cp --no-progress s3://"*) cp "$STAND_IN/${4#s3://}" "$5" ;;
    "s3 cp --no-progress "*" s3://"*) mkdir -p "$(dirname "$STAND_IN/${5#s3://}")" && cp "$4" "$STAND_IN/${5#s3://}" ;;
    "cloudformation describe-stacks --stack-name till "*) echo https://api ;;
    "cloudwatch describe-alarms --alarm-name-prefix till- --state-value ALARM "*) cat "$STAND_IN/alarms" ;;
    *) exit 1 ;;
esac
"#;

/// The API of the stack. It answers as in the file `status`.
const CURL: &str = r#"#!/usr/bin/env bash
case "${@: -1}" in
    https://api/flagged-orders) cat "$STAND_IN/status" ;;
    *) echo '{"items":[]}' ;;
esac
"#;

/// A minute, in which the alarms change to those of the file `later`.
const SLEEP: &str = r#"#!/usr/bin/env bash
[[ $1 == 60 ]] && cp "$STAND_IN/later" "$STAND_IN/alarms"
"#;

/// A checkout, and the stand-ins.
struct Checkout(PathBuf);

impl Checkout {
    fn create() -> Self {
        let folder = std::env::temp_dir().join(format!("till-deploy-{}", Uuid::new_v4()));
        let checkout = Self(folder);
        for script in [".ci/deploy", ".ci/pack"] {
            checkout.write(script, &read(script));
        }
        for (name, program) in [("sam", SAM), ("aws", AWS), ("curl", CURL), ("sleep", SLEEP)] {
            checkout.write(&format!("bin/{name}"), program);
        }
        checkout.write("status", "401");
        for alarms in ["alarms", "later"] {
            checkout.write(alarms, "till-Operations-A-OldSorrow\n");
        }
        checkout.git(&["init", "--quiet"]);
        checkout
    }

    fn commit(&self, program: &str) -> String {
        self.write(".aws-sam/build/template.yaml", "CodeUri: GetOrder");
        self.write(".aws-sam/build/State/template.yaml", "Resources: {}");
        for function in ["GetOrder", "ListOrders"] {
            self.write(&format!(".aws-sam/build/{function}/bootstrap"), program);
        }
        self.write(".aws-sam/build/PlaceOrder/bootstrap", "another program");
        let somebody = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
        self.git(&[&somebody[..], &["commit", "--quiet", "--allow-empty", "--message", program]].concat());
        self.git(&["rev-parse", "HEAD"])
    }

    /// A file that may be executed.
    fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it is created");
        fs::write(&path, text).expect("it is written");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("it may be executed");
    }

    fn git(&self, arguments: &[&str]) -> String {
        let done = Command::new("git").arg("-C").arg(&self.0).args(arguments).output().expect("git runs");
        assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).expect("a text").trim().to_owned()
    }

    /// Packs the build, and deploys it.
    fn deploy(&self) -> Output {
        let archive = self.0.join("build.tar.gz");
        let pack = Command::new(self.0.join(".ci/pack")).arg(&archive).output().expect("it runs");
        assert!(pack.status.success(), "{}", String::from_utf8_lossy(&pack.stderr));
        self.roll_back(archive.to_str().expect("a text"))
    }

    /// Deploys what is kept under the commit, or an archive.
    fn roll_back(&self, commit: &str) -> Output {
        let path = std::env::var("PATH").expect("a path");
        let mut deploy = Command::new(self.0.join(".ci/deploy"));
        deploy.arg(commit).env("PATH", format!("{}:{path}", self.0.join("bin").display()));
        deploy.env("STAND_IN", &self.0).env("ARTIFACTS_BUCKET", "bucket").env("CI", "true");
        deploy.env("WATCH_MINUTES", "2").env_remove("STAGE");
        deploy.env_remove("ARCHITECTURE").env_remove("CLOUDFORMATION_ROLE");
        deploy.output().expect("it runs")
    }

    fn deployed(&self) -> PathBuf {
        self.0.join("deployed/ListOrders/bootstrap")
    }

    fn keeps(&self, commit: &str) -> bool {
        self.0.join(format!("bucket/builds/{commit}-arm64.tar.gz")).is_file()
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

fn text(file: &Path) -> String {
    fs::read_to_string(file).expect("a file")
}

#[test]
fn a_former_build_is_deployed_without_a_build() {
    let checkout = Checkout::create();
    let first = checkout.commit("the first release");
    let done = checkout.deploy();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let second = checkout.commit("the second release");
    assert!(checkout.deploy().status.success());
    assert_eq!(text(&checkout.deployed()), "the second release");
    assert!(checkout.keeps(&first) && checkout.keeps(&second));

    fs::remove_dir_all(checkout.0.join(".aws-sam")).expect("no build is left");
    let back = checkout.roll_back(&first);
    assert!(back.status.success(), "{}", String::from_utf8_lossy(&back.stderr));
    assert_eq!(text(&checkout.deployed()), "the first release");
    assert_eq!(text(&checkout.0.join("deployed/PlaceOrder/bootstrap")), "another program");
    let mode = fs::metadata(checkout.deployed()).expect("a file").permissions().mode();
    assert_eq!(mode & 0o100, 0o100, "the program may be executed");
    let arguments = text(&checkout.0.join("arguments"));
    assert!(arguments.contains("--s3-bucket bucket") && arguments.contains("--no-confirm-changeset"), "{arguments}");
}

#[test]
fn a_build_that_does_not_answer_as_it_should_is_not_kept() {
    let checkout = Checkout::create();
    let commit = checkout.commit("a release without authorization");
    checkout.write("status", "200");
    assert!(!checkout.deploy().status.success());
    assert!(checkout.deployed().exists() && !checkout.keeps(&commit));
}

#[test]
fn a_commit_without_a_build_is_not_deployed() {
    let checkout = Checkout::create();
    for commit in ["0000000000000000000000000000000000000000", "main", ""] {
        assert!(!checkout.roll_back(commit).status.success(), "{commit}");
        assert!(!checkout.deployed().exists(), "{commit}");
    }
}

#[test]
fn a_build_that_sets_an_alarm_off_is_replaced_by_the_one_before_it() {
    let checkout = Checkout::create();
    checkout.commit("the first release");
    let done = checkout.deploy();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let second = checkout.commit("the second release");
    checkout.write("later", "till-Operations-A-OldSorrow\ntill-Operations-B-RequestsFail\n");
    let done = checkout.deploy();
    assert!(!done.status.success());
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("RequestsFail") && !said.contains("OldSorrow"), "{said}");
    assert_eq!(text(&checkout.deployed()), "the first release");
    assert!(!checkout.keeps(&second));
}

#[test]
fn the_first_build_that_sets_an_alarm_off_stays_and_the_deployment_fails() {
    let checkout = Checkout::create();
    let commit = checkout.commit("the first release");
    checkout.write("later", "till-Operations-B-RequestsFail\n");
    assert!(!checkout.deploy().status.success());
    assert!(checkout.deployed().exists() && !checkout.keeps(&commit));
}
