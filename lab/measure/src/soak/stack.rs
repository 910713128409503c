//! The process of the stack, with random faults.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use devstack::fault_proxy::{Fault, Match};
use devstack::{Options, Stack};
use tokio::io::{AsyncBufReadExt, BufReader, stdin};

use crate::workspace;

const SETTLING: Duration = Duration::from_mins(5);

/// The time in which a customer has to pay by card.
pub(super) const PAY_WITHIN_MINUTES: u32 = 1;

#[derive(Args)]
pub(crate) struct Arguments {
    #[arg(long)]
    data: PathBuf,
    /// The payment provider's URL
    #[arg(long)]
    payments: String,
    /// The secret with the provider's keys
    #[arg(long)]
    secret: String,
    #[arg(long)]
    port: u16,
    #[arg(long)]
    faults: f64,
    #[arg(long)]
    seed: u64,
}

/// Serves until its standard input ends. The commands `heal` and `settle` are answered when they are done.
pub(crate) async fn run(arguments: &Arguments) -> Result<()> {
    let mut deployment = local::paying_deployment(&arguments.payments);
    deployment.parameters.insert("PayWithinMinutes".to_owned(), PAY_WITHIN_MINUTES.to_string());
    let mut template = workspace::template_for(&deployment)?;
    for function in &mut template.functions {
        function.environment.entry("DRAIN_WRITE_UNITS".to_owned()).and_modify(|units| "5000".clone_into(units));
    }
    let data = Some(arguments.data.clone());
    let secrets = [(local::PAYMENT_SECRET.to_owned(), arguments.secret.clone())].into();
    let options = Options { data, secrets, port: arguments.port, inject_faults: true, ..local::options(template) };
    let stack = workspace::stack_with(options).await?;
    inject(&stack, arguments.faults, arguments.seed);
    crate::print(&format!("listening {} {}\n", stack.url(), stack.dynamodb_url()))?;

    let mut lines = BufReader::new(stdin()).lines();
    let mut ticks = tokio::time::interval(Duration::from_millis(500));
    loop {
        tokio::select! {
            line = lines.next_line() => match line?.as_deref() {
                Some("heal") => {
                    heal(&stack);
                    crate::print("healed\n")?;
                }
                Some("settle") => {
                    stack.settle(SETTLING).await?;
                    crate::print("settled\n")?;
                }
                _ => break,
            },
            _ = ticks.tick() => {
                let injected = take_injected(&stack);
                crate::print(&format!("injected {injected}\n"))?;
            }
        }
    }
    stack.shutdown().await
}

fn inject(stack: &Stack, share: f64, seed: u64) {
    let throttle = |reason| Fault::Throttle { reason, resource: "the table".to_owned() };
    let general = [
        Fault::InternalError,
        Fault::CutBefore,
        Fault::CutAfter,
        Fault::Late(Duration::from_millis(200)),
        Fault::Delay(Duration::from_millis(700)),
    ];
    let of_table = [
        throttle("TableWriteProvisionedThroughputExceeded"),
        throttle("IndexWriteKeyRangeThroughputExceeded"),
        throttle("TableWriteAccountLimitExceeded"),
    ];
    let of_transactions = [Fault::conflict(0), Fault::HalfSeen];
    let Some(table) = stack.fault_proxy() else { return };
    let all = general.len() + of_table.len() + of_transactions.len();
    #[expect(clippy::cast_precision_loss, reason = "they are ten")]
    let each = share / all as f64;
    let mut seeds = fastrand::Rng::with_seed(seed);
    for fault in general.iter().chain(&of_table) {
        table.inject_share(Match::any(), fault.clone(), each, seeds.u64(..));
    }
    for fault in of_transactions {
        table.inject_share(Match::action("TransactWriteItems"), fault, 2.0 * each, seeds.u64(..));
    }
    for proxy in stack.service_proxies().into_iter().flatten() {
        for fault in &general {
            proxy.inject_share(Match::any(), fault.clone(), 2.0 * each, seeds.u64(..));
        }
    }
}

fn heal(stack: &Stack) {
    stack
        .fault_proxy()
        .into_iter()
        .chain(stack.service_proxies().into_iter().flatten())
        .for_each(devstack::FaultProxy::heal);
}

/// The number of injected faults since this was last called.
fn take_injected(stack: &Stack) -> usize {
    let proxies = stack.fault_proxy().into_iter().chain(stack.service_proxies().into_iter().flatten());
    proxies.flat_map(devstack::FaultProxy::take_calls).filter(|call| call.fault.is_some()).count()
}
