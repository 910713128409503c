//! `.ci/pack` and `.ci/deploy`, with stand-ins for `sam`, `aws` and `curl`: what the pipeline does with each deployment that
//! fails, and that a build which was deployed is deployed by its commit again.

mod checkout;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use shop::read;

use self::checkout::{Checkout, OLD_SORROW, failure, text};
use crate::deployment::stack;

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

/// The operator has a reason. The build is kept only if all is well.
#[test]
fn a_build_is_left_alone_if_somebody_changes_the_stack_while_its_alarms_are_watched() {
    for (name, value, is_off, is_kept) in [
        ("Shop", "closed", false, true),
        ("Changed", "now", false, true),
        ("Changed", "now", true, false),
        ("StackStatus", "UPDATE_IN_PROGRESS", false, false),
        ("Release", "another", false, false),
    ] {
        let (checkout, _) = Checkout::deployed();
        if is_off {
            checkout.write("later", &format!("{OLD_SORROW}till-Operations-A-RequestsFail\n"));
        }
        let stack = r#""$STAND_IN/stacks/till""#;
        // Whatever changes, the time of the last change does.
        let meanwhile =
            format!("sed -i '/^{name}/d; /^Changed/d' {stack}; printf '{name}\\t{value}\nChanged\\tnow\n' >>{stack}");
        checkout.write("meanwhile", &meanwhile);
        let second = checkout.commit("the second release");
        let failed = failure(&checkout.deploy());
        assert_eq!(failed.is_none(), is_kept, "{name}: {failed:?}");
        assert!(
            checkout.keeps(&second) == is_kept && failed.is_none_or(|it| it.contains("Somebody changed")),
            "{name}"
        );
        assert_eq!(checkout.program(), "the second release", "{name}: nothing is rolled back");
    }
}

/// The former build is still the one that is kept as what runs.
#[test]
fn a_deployment_that_came_to_no_end_is_checked_by_the_next_one() {
    let never = "yes 'cloudwatch describe-alarms' | head -99 >\"$STAND_IN/broken\"";
    for (alarms, is_good) in [(String::new(), true), (format!("{OLD_SORROW}till-Operations-A-RequestsFail\n"), false)] {
        let (checkout, first) = Checkout::deployed();
        checkout.write("meanwhile", never);
        let second = checkout.commit("the second release");
        assert_fails(&checkout.deploy(), "the new build is neither checked nor kept");
        checkout.write("meanwhile", "");
        for file in ["alarms", "later"] {
            checkout.write(file, &alarms);
        }
        checkout.write("broken", "");
        let failed = failure(&checkout.deploy());
        assert_eq!(failed.is_none(), is_good, "{failed:?}");
        assert_eq!(checkout.release(), if is_good { second } else { first });
    }
}

#[test]
fn what_cloudformation_deployed_is_checked_although_sam_did_not_hear_of_it() {
    let (checkout, first) = Checkout::deployed();
    checkout.write("cut", "");
    let second = checkout.commit("the second release");
    assert_eq!(failure(&checkout.deploy()), None);
    assert!(checkout.keeps(&second));
    checkout.commit("it answers 500");
    assert_fails(&checkout.deploy(), "The build that ran before is deployed again");
    assert_eq!(checkout.release(), second);
    assert_ne!(first, second);
}

/// The gateway answers as before, so only the closed functions do not.
#[test]
fn a_build_that_does_not_answer_because_somebody_closes_the_shop_is_left_alone() {
    let (checkout, _) = Checkout::deployed();
    let closing = "sed -i '/^Changed/d' \"$STAND_IN/stacks/till\"; printf 'Shop\\tclosed\\nChanged\\tnow\\n' >>\"$STAND_IN/stacks/till\"";
    checkout.write("at-once", closing);
    let second = checkout.commit("the second release");
    assert_fails(&checkout.deploy(), "Somebody changed till meanwhile");
    assert!(!checkout.keeps(&second) && checkout.release() == second);
}

#[test]
fn a_stack_that_somebody_changes_is_not_deployed_to() {
    let (checkout, first) = Checkout::deployed();
    checkout.set("StackStatus", "UPDATE_IN_PROGRESS");
    checkout.commit("the second release");
    assert_fails(&checkout.deploy(), "Somebody changes till (UPDATE_IN_PROGRESS)");
    checkout.set("StackStatus", "UPDATE_COMPLETE");
    checkout.write("refused", "UPDATE_IN_PROGRESS");
    assert_fails(&checkout.deploy(), "till is in UPDATE_IN_PROGRESS: wait");
    assert_eq!(checkout.release(), first);
}

#[test]
fn single_calls_of_aws_may_fail_and_those_that_fail_again_are_told() {
    let calls = ["cloudformation describe-stacks", "cloudformation list-stack-resources", "cloudwatch describe-alarms"];
    for call in calls {
        let (checkout, _) = Checkout::deployed();
        // Each minute, one call fails twice.
        checkout.write("broken", &format!("{call}\n"));
        checkout.write("meanwhile", &format!("printf '{call}\n{call}\n' >\"$STAND_IN/broken\""));
        let second = checkout.commit("the second release");
        assert_eq!(failure(&checkout.deploy()), None, "{call}");
        assert!(checkout.keeps(&second));

        checkout.write("later", &format!("{OLD_SORROW}till-Operations-A-RequestsFail\n"));
        checkout.commit("the third release");
        assert_fails(&checkout.deploy(), "RequestsFail");
        assert_eq!(checkout.release(), second, "{call}");
        checkout.write("alarms", OLD_SORROW);

        checkout.write("meanwhile", &format!("yes '{call}' | head -99 >\"$STAND_IN/broken\""));
        let fourth = checkout.commit("the fourth release");
        let done = checkout.deploy();
        assert_fails(&done, "the new build is neither checked nor kept");
        assert!(!checkout.keeps(&fourth) && checkout.release() == fourth, "{call}");
        assert_fails(&checkout.deploy(), "Nothing was deployed");
    }
    let (checkout, first) = Checkout::deployed();
    let copies = |count: usize| checkout.write("broken", &"s3 cp\n".repeat(count));
    copies(2);
    checkout.commit("it answers 500");
    assert_fails(&checkout.deploy(), "The build that ran before is deployed again");
    assert_eq!(checkout.release(), first);
    copies(99);
    checkout.commit("the second release");
    assert_fails(&checkout.deploy(), "cannot be kept as s3://bucket/deployed/till.tar.gz");
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
