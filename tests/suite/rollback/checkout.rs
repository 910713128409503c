//! A checkout with stand-ins for `sam`, `aws`, `curl` and `sleep`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use shop::read;
use uuid::Uuid;

/// Copies the folder of the template to `deployed`, its own arguments to `arguments`, and the release into the stack. The
/// file `refused` has the status of a stack that CloudFormation does not deploy. If there is a file `declined`, somebody
/// declines the changes. If there is a file `cut`, SAM does not hear that CloudFormation has deployed.
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
    sed -i '/^StackStatus/d' "$stack"
    printf 'StackStatus\t%s\n' "$(<"$STAND_IN/refused")" >>"$stack"
    exit 1
fi
rm -rf "$STAND_IN/deployed" && cp -r "$(dirname "$3")" "$STAND_IN/deployed"
echo "${@:4}" >"$STAND_IN/arguments"
sed -i '/^Release/d; /^ApiUrl/d; /^StackStatus/d; /^Changed/d' "$stack"
printf 'ApiUrl\thttps://api\nRelease\t%s\n' "$(sed -n 's/^    Value: "\(.*\)"/\1/p' "$3")" >>"$stack"
printf 'StackStatus\tUPDATE_COMPLETE\nChanged\t%s\n' "$(date +%s.%N)" >>"$stack"
[[ ! -f $STAND_IN/cut ]]
"#;

/// A bucket, and stacks with their parameters and outputs. Each has an alarm, and a stack with two more. Each line of the file
/// `broken` is a call that fails once.
const AWS: &str = r#"#!/usr/bin/env bash
if grep -qsx "$1 $2" "$STAND_IN/broken"; then
    sed -i 1d "$STAND_IN/broken"
    echo 'Could not connect to the endpoint URL' >&2
    exit 255
fi
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
    *)
        [[ ! -f $STAND_IN/at-once ]] || . "$STAND_IN/at-once"
        [[ $program != *500* ]] && ! grep -qs closed "$STAND_IN"/stacks/* && echo '{"items":[]}'
        ;;
esac
"#;

/// A minute, in which the alarms change to those of the file `later`, and the script `meanwhile` runs.
const SLEEP: &str = r#"#!/usr/bin/env bash
[[ $1 == 60 ]] || exit 0
cp "$STAND_IN/later" "$STAND_IN/alarms"
[[ ! -f $STAND_IN/meanwhile ]] || . "$STAND_IN/meanwhile"
"#;

pub const OLD_SORROW: &str = "till-Operations-A-OldSorrow\n";

/// A checkout, and the stand-ins.
pub struct Checkout(pub PathBuf);

impl Checkout {
    pub fn create() -> Self {
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
    pub fn deployed() -> (Self, String) {
        let checkout = Self::create();
        let first = checkout.commit("the first release");
        assert_eq!(failure(&checkout.deploy()), None);
        (checkout, first)
    }

    /// Makes a commit and its build. Returns the commit.
    pub fn commit(&self, program: &str) -> String {
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
    pub fn write(&self, file: &str, text: &str) {
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
    pub fn deploy(&self) -> Output {
        self.deploy_to("default")
    }

    /// Packs the build, and deploys it to a stage.
    pub fn deploy_to(&self, stage: &str) -> Output {
        let archive = self.0.join("build.tar.gz");
        let pack = Command::new(self.0.join(".ci/pack")).arg(&archive).output().expect("it runs");
        assert!(pack.status.success(), "{}", String::from_utf8_lossy(&pack.stderr));
        self.run(archive.to_str().expect("a text"), stage)
    }

    /// Deploys what is kept under the commit.
    pub fn roll_back(&self, commit: &str) -> Output {
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
    pub fn set(&self, name: &str, value: &str) {
        let (file, own) = ("stacks/till", format!("{name}\t"));
        let stack = text(&self.0.join(file));
        let others: String = stack.split_inclusive('\n').filter(|line| !line.starts_with(&own)).collect();
        self.write(file, &format!("{others}{own}{value}\n"));
    }

    pub fn program(&self) -> String {
        text(&self.0.join("deployed/ListOrders/bootstrap"))
    }

    /// What the stack says that runs.
    pub fn release(&self) -> String {
        let stack = text(&self.0.join("stacks/till"));
        stack.lines().find_map(|line| line.strip_prefix("Release\t")).expect("an output").to_owned()
    }

    pub fn keeps(&self, commit: &str) -> bool {
        self.0.join(format!("bucket/builds/{commit}-arm64.tar.gz")).is_file()
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

pub fn text(file: &Path) -> String {
    fs::read_to_string(file).expect("a file")
}

/// What the script complains about, if it fails.
pub fn failure(done: &Output) -> Option<String> {
    (!done.status.success()).then(|| String::from_utf8_lossy(&done.stderr).into_owned())
}
