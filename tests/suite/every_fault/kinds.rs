//! The faults of a call, by its service and action.

use std::fmt;
use std::time::Duration;

use devstack::fault_proxy::{Call, Fault};
use shop::seed::long;

/// A delay longer than the timeouts of these functions and of one attempt of the client. The call still takes effect.
const TOO_LONG: Duration = Duration::from_millis(4300);

/// A delay longer than the client needs for its retry, or the handler for a read.
const LATE: Duration = Duration::from_millis(150);

/// The service behind a fault proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    DynamoDb,
    Sqs,
    EventBridge,
}

/// One fault at one call of a run.
#[derive(Clone)]
pub struct Injection {
    pub service: Service,
    /// The number of matching calls to skip.
    pub after: usize,
    /// The action, if the fault can only happen to calls of that action.
    pub only: Option<String>,
    pub fault: Fault,
    pub times: usize,
    action: String,
}

impl Injection {
    /// The kind of fault at this kind of call: a sample has each of them.
    pub fn kind(&self) -> String {
        let fault = match &self.fault {
            Fault::Cancel { item: 1.., code, .. } => format!("{code} of the last item"),
            fault => format!("{fault:?}"),
        };
        format!("{:?} {} {fault} {}", self.service, self.action, self.times)
    }

    /// Whether the answer of a write is lost, once.
    pub fn is_lost_write(&self) -> bool {
        let is_read = ["Query", "Get"].iter().any(|read| self.action.contains(read));
        matches!(self.fault, Fault::CutAfter) && self.times == 1 && !is_read
    }
}

impl fmt::Debug for Injection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = if self.times == 1 { "once" } else { "for ever" };
        write!(formatter, "{:?} {times} from call {} on ({:?} {})", self.fault, self.after, self.service, self.action)
    }
}

/// A case with more calls than this walks through many items with similar calls.
const WALK: usize = 12;

/// The faults of each of these calls, once, and for ever if that is worse. A walk gets faults only at the first and
/// last call of each action. In the long form, every fault is also injected for ever, including faults that the code
/// cannot distinguish from others.
pub fn injections(calls: &[(Service, Call)]) -> Vec<Injection> {
    let is_walk = calls.len() > WALK;
    let all_last = long().is_some();
    let mut all = Vec::new();
    for service in [Service::DynamoDb, Service::Sqs, Service::EventBridge] {
        for (after, (_, call)) in calls.iter().filter(|(of, _)| *of == service).enumerate() {
            let of_action = |(of, other): &&(Service, Call)| *of == service && other.action == call.action;
            let of_service = |(of, _): &&(Service, Call)| *of == service;
            let spared = calls.iter().filter(of_service).take(after).filter(of_action).count();
            let is_last = spared + 1 == calls.iter().filter(of_action).count();
            if is_walk && spared > 0 && !is_last {
                continue;
            }
            let general = faults(service, call).into_iter().map(|fault| (after, None, fault));
            let special = special(call).into_iter().map(|fault| (spared, Some(call.action.clone()), fault));
            let all_faults = general.chain(special).filter(|(_, _, fault)| all_last || is_of_its_own(fault, call));
            for (after, only, fault) in all_faults {
                let ends_by_itself = matches!(fault, Fault::Delay(_) | Fault::Late(_));
                let is_once_enough = is_walk || ends_by_itself || !(all_last || is_worse_for_ever(&fault));
                for times in if is_once_enough { &[1][..] } else { &[1, usize::MAX] } {
                    let action = call.action.clone();
                    let (only, fault) = (only.clone(), fault.clone());
                    all.push(Injection { service, after, only, fault, times: *times, action });
                }
            }
        }
    }
    all
}

/// Whether no other fault has the same effect. A failed read is retried or not, and the code never distinguishes
/// causes.
fn is_of_its_own(fault: &Fault, call: &Call) -> bool {
    let is_read = call.action == "Query" || call.action.contains("Get");
    match fault {
        Fault::CutBefore => !is_read,
        Fault::Throttle { reason, .. } if is_read => reason.ends_with("ReadProvisionedThroughputExceeded"),
        Fault::Throttle { reason, .. } => !reason.ends_with("MaxOnDemandThroughputExceeded"),
        Fault::Cancel { code, .. } => *code != "ThrottlingError",
        Fault::Refused { status, .. } => *status == 400,
        _ => true,
    }
}

/// Whether the fault is worse if it lasts: a retry overcomes it once, but not for ever.
fn is_worse_for_ever(fault: &Fault) -> bool {
    match fault {
        Fault::CutAfter | Fault::Conflict => true,
        Fault::Cancel { item, code, .. } => *item == 0 && *code == "TransactionConflict",
        Fault::Throttle { reason, .. } => reason.ends_with("WriteProvisionedThroughputExceeded"),
        _ => false,
    }
}

fn faults(service: Service, call: &Call) -> Vec<Fault> {
    let mut faults = vec![Fault::InternalError, Fault::CutBefore, Fault::CutAfter, Fault::Delay(TOO_LONG)];
    match service {
        Service::DynamoDb => faults.extend(of_dynamodb(call)),
        Service::Sqs => {
            let refused = ["com.amazonaws.sqs#RequestThrottled", "com.amazonaws.sqs#KmsThrottled"];
            faults.extend(refused.map(|exception| Fault::Refused { status: 400, exception }));
            faults.push(Fault::Refused { status: 403, exception: "ThrottlingException" });
            faults.push(Fault::Refused { status: 503, exception: "ServiceUnavailable" });
            faults.push(Fault::Late(LATE));
        }
        Service::EventBridge => {
            faults.push(Fault::Refused { status: 400, exception: "ThrottlingException" });
            faults.push(Fault::Late(LATE));
        }
    }
    faults
}

fn of_dynamodb(call: &Call) -> Vec<Fault> {
    let throttle = |reason| Fault::Throttle { reason, resource: "arn".to_owned() };
    match call.action.as_str() {
        "Query" | "GetItem" | "BatchGetItem" | "TransactGetItems" => vec![
            throttle("TableReadProvisionedThroughputExceeded"),
            throttle("TableReadKeyRangeThroughputExceeded"),
            throttle("TableReadAccountLimitExceeded"),
            throttle("TableReadMaxOnDemandThroughputExceeded"),
        ],
        _ => vec![
            throttle("TableWriteProvisionedThroughputExceeded"),
            throttle("IndexWriteKeyRangeThroughputExceeded"),
            throttle("TableWriteAccountLimitExceeded"),
            throttle("IndexWriteMaxOnDemandThroughputExceeded"),
            Fault::Late(LATE),
        ],
    }
}

/// Faults of this action alone.
fn special(call: &Call) -> Vec<Fault> {
    let cancel = |code| Fault::Cancel { item: 0, code, message: "The transaction was told to be cancelled." };
    let items = call.request["TransactItems"].as_array().map_or(0, Vec::len);
    let in_progress = "com.amazonaws.dynamodb.v20120810#TransactionInProgressException";
    match call.action.as_str() {
        "TransactWriteItems" => vec![
            Fault::conflict(0),
            Fault::conflict(items - 1),
            Fault::HalfSeen,
            cancel("ProvisionedThroughputExceeded"),
            cancel("ThrottlingError"),
            Fault::Refused { status: 400, exception: in_progress },
        ],
        "TransactGetItems" => {
            vec![Fault::conflict(0), cancel("ProvisionedThroughputExceeded"), cancel("ThrottlingError")]
        }
        "PutItem" | "UpdateItem" | "DeleteItem" => vec![Fault::Conflict],
        "BatchGetItem" => vec![Fault::Unprocessed(1), Fault::Unprocessed(100)],
        _ if call.request["Entries"].is_array() => vec![Fault::FailedEntries],
        _ => Vec::new(),
    }
}
