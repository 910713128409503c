//! `.ci/pack` and `.ci/deploy`, with stand-ins for `sam`, `aws` and `curl`: what the pipeline does with each deployment that
//! fails, and that a build which was deployed is deployed by its commit again.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use shop::read;
use uuid::Uuid;

use crate::deployment::stack;

/// Copies the folder of the template to `deployed`, its own arguments to `arguments`, and the release into the stack. The
/// file `refused` has the status of a stack that CloudFormation does not deploy. If there is a file `declined`, somebody
/// declines the changes.
const SAM: &str = r#"#!/usr/bin/env bash
[[ $1 == deploy && $2 == --template-file ]] || exit 1
stack=$STAND_IN/stacks/$(sed 's/.*--stack-name \([^ ]*\).*/\1/' <<<"$*")
mkdir -p "$STAND_IN/stacks"
if [[ -f $STAND_IN/declined ]]; then
    [[ -f $stack ]] || printf 'StackStatus\tREVIEW_IN_PROGRESS\n' >"$stack"
    exit
fi
grep -qs TableIs "$stack" || printf 'TableIs\tcreated\n' >"$stack"
if [[ -f $STAND_IN/refused ]]; then
    printf 'StackStatus\t%s\n' "$(<"$STAND_IN/refused")" >>"$stack"
    exit 1
fi
rm -rf "$STAND_IN/deployed" && cp -r "$(dirname "$3")" "$STAND_IN/deployed"
echo "${@:4}" >"$STAND_IN/arguments"
sed -i '/^Release/d; /^ApiUrl/d; /^StackStatus/d' "$stack"
printf 'ApiUrl\thttps://api\nRelease\t%s\n' "$(sed -n 's/^    Value: "\(.*\)"/\1/p' "$3")" >>"$stack"
"#;

/// A bucket, and stacks with their parameters and outputs. Each has an alarm, and a stack with two more.
const AWS: &str = r#"#!/usr/bin/env bash
case "$*" in
    "s3 cp --no-progress s3://"*) cp "$STAND_IN/${4#s3://}" "$5" ;;
    "s3 cp --no-progress "*" s3://"*) mkdir -p "$(dirname "$STAND_IN/${5#s3://}")" && cp "$4" "$STAND_IN/${5#s3://}" ;;
    "cloudformation describe-stacks --stack-name "*)
        [[ -f $STAND_IN/stacks/$4 ]] || { echo "Stack with id $4 does not exist" >&2; exit 254; }
        cat "$STAND_IN/stacks/$4"
        ;;
    "cloudformation list-stack-resources --stack-name "*-Operations-A" "*)
        printf "AWS::CloudWatch::Alarm\t$4-%s\n" OldSorrow RequestsFail
        ;;
    "cloudformation list-stack-resources --stack-name "*)
        printf "AWS::CloudWatch::Alarm\t$4-Own\nAWS::CloudFormation::Stack\t$4-Operations-A\n"
        ;;
    "cloudwatch describe-alarms "*" --alarm-names "*)
        for name in ${*#* --alarm-names }; do
            grep --line-regexp "$name" "$STAND_IN/alarms"
        done
        true
        ;;
    *) exit 1 ;;
esac
"#;

/// The API of the stack. A program that says so answers 500, or forgets the authorization. A closed shop answers 503.
const CURL: &str = r#"#!/usr/bin/env bash
program=$(<"$STAND_IN/deployed/ListOrders/bootstrap")
case "${@: -1}" in
    https://api/flagged-orders) [[ $program == *everybody* ]] && echo 200 || echo 401 ;;
    *) [[ $program != *500* ]] && ! grep -qs closed "$STAND_IN"/stacks/* && echo '{"items":[]}' ;;
esac
"#;

/// A minute, in which the alarms change to those of the file `later`.
const SLEEP: &str = r#"#!/usr/bin/env bash
[[ $1 == 60 ]] && cp "$STAND_IN/later" "$STAND_IN/alarms"
"#;

const OLD_SORROW: &str = "till-Operations-A-OldSorrow\n";

/// A checkout, and the stand-ins.
struct Checkout(PathBuf);

impl Checkout {
    fn create() -> Self {
        let folder = std::env::temp_dir().join(format!("till-deploy-{}", Uuid::new_v4()));
        let checkout = Self(folder);
        for file in [".ci/deploy", ".ci/pack", "samconfig.toml"] {
            checkout.write(file, &read(file));
        }
        for (name, program) in [("sam", SAM), ("aws", AWS), ("curl", CURL), ("sleep", SLEEP)] {
            checkout.write(&format!("bin/{name}"), program);
        }
        for alarms in ["alarms", "later"] {
            checkout.write(alarms, OLD_SORROW);
        }
        checkout.write(".gitignore", "*");
        checkout.git(&["init", "--quiet"]);
        checkout
    }

    /// A checkout whose first release is deployed.
    fn deployed() -> (Self, String) {
        let checkout = Self::create();
        let first = checkout.commit("the first release");
        assert_eq!(failure(&checkout.deploy()), None);
        (checkout, first)
    }

    /// Makes a commit and its build. Returns the commit.
    fn commit(&self, program: &str) -> String {
        self.write(
            ".aws-sam/build/template.yaml",
            "Globals:\n    RELEASE: unpacked\nOutputs:\n  Release:\n    Value: unpacked\n",
        );
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

    /// Packs the build, and deploys it to production.
    fn deploy(&self) -> Output {
        self.deploy_to("default")
    }

    /// Packs the build, and deploys it to a stage.
    fn deploy_to(&self, stage: &str) -> Output {
        let archive = self.0.join("build.tar.gz");
        let pack = Command::new(self.0.join(".ci/pack")).arg(&archive).output().expect("it runs");
        assert!(pack.status.success(), "{}", String::from_utf8_lossy(&pack.stderr));
        self.run(archive.to_str().expect("a text"), stage)
    }

    /// Deploys what is kept under the commit.
    fn roll_back(&self, commit: &str) -> Output {
        self.run(commit, "default")
    }

    fn run(&self, build: &str, stage: &str) -> Output {
        let path = std::env::var("PATH").expect("a path");
        let mut deploy = Command::new(self.0.join(".ci/deploy"));
        deploy.arg(build).env("PATH", format!("{}:{path}", self.0.join("bin").display()));
        deploy.env("STAND_IN", &self.0).env("ARTIFACTS_BUCKET", "bucket").env("CI", "true");
        deploy.env("WATCH_MINUTES", "2").env("STAGE", stage);
        deploy.env_remove("ARCHITECTURE").env_remove("CLOUDFORMATION_ROLE");
        deploy.output().expect("it runs")
    }

    /// Changes a parameter or an output of the stack of production.
    fn set(&self, name: &str, value: &str) {
        let (file, own) = ("stacks/till", format!("{name}\t"));
        let stack = text(&self.0.join(file));
        let others: String = stack.split_inclusive('\n').filter(|line| !line.starts_with(&own)).collect();
        self.write(file, &format!("{others}{own}{value}\n"));
    }

    fn program(&self) -> String {
        text(&self.0.join("deployed/ListOrders/bootstrap"))
    }

    /// What the stack says that runs.
    fn release(&self) -> String {
        let stack = text(&self.0.join("stacks/till"));
        stack.lines().find_map(|line| line.strip_prefix("Release\t")).expect("an output").to_owned()
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

/// What the script complains about, if it fails.
fn failure(done: &Output) -> Option<String> {
    (!done.status.success()).then(|| String::from_utf8_lossy(&done.stderr).into_owned())
}

#[track_caller]
fn assert_fails(done: &Output, complaint: &str) {
    let said = failure(done).expect("it fails");
    assert!(said.contains(complaint), "{said}");
}

#[test]
fn a_former_build_is_deployed_without_a_build() {
    let (checkout, first) = Checkout::deployed();
    let second = checkout.commit("the second release");
    assert_eq!(failure(&checkout.deploy()), None);
    assert_eq!((checkout.program(), checkout.release()), ("the second release".to_owned(), second.clone()));
    assert!(checkout.keeps(&first) && checkout.keeps(&second));

    let packed = text(&checkout.0.join("deployed/template.yaml"));
    assert!(packed.contains(&format!("\n    RELEASE: \"{second}\"\n")), "{packed}");

    fs::remove_dir_all(checkout.0.join(".aws-sam")).expect("no build is left");
    assert_eq!(failure(&checkout.roll_back(&first)), None);
    assert_eq!((checkout.program(), checkout.release()), ("the first release".to_owned(), first));
    assert_eq!(text(&checkout.0.join("deployed/PlaceOrder/bootstrap")), "another program");
    let mode = fs::metadata(checkout.0.join("deployed/ListOrders/bootstrap")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o100, 0o100, "the program may be executed");
    let arguments = text(&checkout.0.join("arguments"));
    assert!(arguments.contains("--s3-bucket bucket") && arguments.contains("--no-confirm-changeset"), "{arguments}");
}

#[test]
fn a_commit_without_a_build_is_not_deployed() {
    let checkout = Checkout::create();
    for commit in ["0000000000000000000000000000000000000000", "main", ""] {
        assert!(!checkout.roll_back(commit).status.success(), "{commit}");
        assert!(!checkout.0.join("deployed").exists(), "{commit}");
    }
}

#[test]
fn a_first_deployment_that_fails_is_told_how_to_clean_up() {
    let checkout = Checkout::create();
    let commit = checkout.commit("the first release");
    checkout.write("refused", "ROLLBACK_COMPLETE");
    assert_fails(&checkout.deploy(), "A first deployment that fails");
    assert!(!checkout.keeps(&commit));
}

#[test]
fn a_first_deployment_that_answers_500_stays_and_is_not_kept() {
    let checkout = Checkout::create();
    let commit = checkout.commit("it answers 500");
    assert_fails(&checkout.deploy(), "nothing is rolled back");
    assert!(!checkout.keeps(&commit) && checkout.release() == commit);
}

/// CloudFormation itself brings the former build back.
#[test]
fn a_later_deployment_that_cloudformation_refuses_leaves_the_former_build() {
    let (checkout, first) = Checkout::deployed();
    let second = checkout.commit("the second release");
    checkout.write("refused", "UPDATE_ROLLBACK_COMPLETE");
    assert_fails(&checkout.deploy(), &format!("CloudFormation deployed nothing: till runs {first}"));
    assert!(!checkout.keeps(&second) && checkout.release() == first);
    checkout.write("refused", "UPDATE_ROLLBACK_FAILED");
    checkout.write("stacks/till", "");
    assert_fails(&checkout.deploy(), "CloudFormation cannot roll back");
}

#[test]
fn changes_that_somebody_declines_are_not_kept_as_what_runs() {
    let checkout = Checkout::create();
    checkout.write("declined", "");
    let first = checkout.commit("the first release");
    assert_fails(&checkout.deploy(), "The changes were declined");
    assert!(!checkout.keeps(&first));
    fs::remove_file(checkout.0.join("declined")).expect("a file");
    assert_eq!(failure(&checkout.deploy()), None, "a first deployment is tried again");
    checkout.write("declined", "");
    let second = checkout.commit("the second release");
    assert_fails(&checkout.deploy(), &format!("The changes were declined: till runs {first}"));
    assert!(!checkout.keeps(&second));
}

#[test]
fn a_build_that_does_not_answer_as_it_should_is_replaced_by_the_one_before_it() {
    for program in ["it answers 500", "it answers everybody"] {
        let (checkout, first) = Checkout::deployed();
        let second = checkout.commit(program);
        assert_fails(&checkout.deploy(), "The build that ran before is deployed again");
        assert_eq!((checkout.program(), checkout.release()), ("the first release".to_owned(), first));
        assert!(!checkout.keeps(&second));
    }
}

#[test]
fn a_build_that_sets_an_alarm_off_is_replaced_by_the_one_before_it() {
    let (checkout, first) = Checkout::deployed();
    let second = checkout.commit("the second release");
    checkout.write("later", &format!("{OLD_SORROW}till-Operations-A-RequestsFail\n"));
    let done = checkout.deploy();
    assert_fails(&done, "RequestsFail");
    assert!(failure(&done).is_some_and(|said| !said.contains("OldSorrow")));
    assert_eq!((checkout.program(), checkout.release()), ("the first release".to_owned(), first));
    assert!(!checkout.keeps(&second));
}

#[test]
fn an_alarm_of_another_stage_rolls_nothing_back() {
    let (checkout, _) = Checkout::deployed();
    let second = checkout.commit("the second release");
    checkout.write("later", &format!("{OLD_SORROW}till-staging-Operations-A-RequestsFail\ntill-staging-Own\n"));
    assert_eq!(failure(&checkout.deploy()), None);
    assert!(checkout.keeps(&second) && checkout.release() == second);
}

/// No function answers, and alarms of the closed shop go off.
#[test]
fn what_is_deployed_while_the_shop_is_closed_is_kept() {
    let (checkout, first) = Checkout::deployed();
    checkout.set("Shop", "closed");
    let repair = checkout.commit("the repair");
    checkout.write("later", "till-Operations-A-RequestsFail\n");
    assert_eq!(failure(&checkout.deploy()), None);
    assert!(checkout.keeps(&repair) && checkout.release() == repair);

    checkout.commit("it answers everybody");
    assert_fails(&checkout.deploy(), "The build that ran before is deployed again");
    assert_eq!(checkout.release(), repair);
    assert_eq!(failure(&checkout.roll_back(&first)), None);
}

/// Another one may be more than one release back.
#[test]
fn only_the_build_that_ran_before_is_deployed_again() {
    let (checkout, _) = Checkout::deployed();
    checkout.set("Release", "by-hand");
    let second = checkout.commit("it answers 500");
    assert_fails(&checkout.deploy(), "the stack ran by-hand, which is not kept");
    assert_eq!(checkout.release(), second);
}

#[test]
fn what_runs_is_kept_for_as_long_as_it_runs() {
    let (checkout, first) = Checkout::deployed();
    fs::remove_dir_all(checkout.0.join("bucket/builds")).expect("a year is over");
    checkout.commit("it answers 500");
    assert_fails(&checkout.deploy(), "The build that ran before is deployed again");
    assert_eq!(checkout.release(), first);

    let bucket = stack(".github/deployer.yaml")["Resources"]["Artifacts"]["Properties"].clone();
    let rules = bucket["LifecycleConfiguration"]["Rules"].as_sequence().expect("rules");
    let expiring: Vec<_> = rules.iter().filter(|rule| !rule["ExpirationInDays"].is_null()).collect();
    assert!(!expiring.is_empty() && expiring.iter().all(|rule| rule["Prefix"] == "builds/"), "{expiring:?}");
}

#[test]
fn three_stages_have_stacks_and_builds_of_their_own() {
    let (checkout, first) = Checkout::deployed();
    let names = |name: &str| format!("\n[{name}.global.parameters]\nstack_name = \"till-{name}\"\n");
    checkout.write("samconfig.toml", &(read("samconfig.toml") + &names("trial")));
    for (stage, program) in [("staging", "the second release"), ("trial", "the third release")] {
        checkout.commit(program);
        assert_eq!(failure(&checkout.deploy_to(stage)), None);
        let arguments = text(&checkout.0.join("arguments"));
        assert!(arguments.contains(&format!("--config-env {stage} --stack-name till-{stage}")), "{arguments}");
        assert!(checkout.0.join(format!("bucket/deployed/till-{stage}.tar.gz")).is_file());
    }
    checkout.commit("it answers 500");
    assert_fails(&checkout.deploy(), "The build that ran before is deployed again");
    assert_eq!(checkout.release(), first);
    assert_fails(&checkout.deploy_to("unknown"), "[unknown.global.parameters]");
}

/// The lines of a section are those that SAM writes, and those of a person.
#[test]
fn a_file_that_would_open_the_shop_or_change_its_table_is_refused() {
    let (checkout, _) = Checkout::deployed();
    checkout.set("TableIs", "given-v1");
    let with = |line: &str| {
        let names = "[default.global.parameters]\nstack_name = \"till\"\n";
        format!(
            "{names}[default.deploy.parameters]\n{line}\n[other.deploy.parameters]\nparameter_overrides = \"Shop=open\"\n"
        )
    };
    for (line, complaint) in [
        (r#"parameter_overrides = "RequestBurst=\"9\" Shop=\"open\" Tables=\"v1\"""#, "Shop=open"),
        (r#"parameter_overrides = ["Shop=closed"]"#, "Shop=closed"),
        ("parameter_overrides = [\n    \"Guests=true\",\n    \"TableIs=created\",\n]", "has TableIs=given-v1"),
    ] {
        checkout.write("samconfig.toml", &with(line));
        checkout.commit("the next release");
        assert_fails(&checkout.deploy(), complaint);
        assert_eq!(checkout.program(), "the first release");
    }
    for line in [r#"parameter_overrides = "TableIs=given-v1""#, r#"# "Shop=closed""#, r#"tags = "MyShop=closed""#] {
        checkout.write("samconfig.toml", &with(line));
        checkout.commit("the next release");
        assert_eq!(failure(&checkout.deploy()), None, "{line}");
    }
}
