//! The payment provider, which outlives the kills of the stack, and what goes wrong there.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use fastrand::Rng;
use local::pretend_provider::{Act, Answer, Call, Dispute, DisputeStatus, Keys, PretendProvider, Switches, Webhooks};
use shop::wire::Wire;
use tokio::net::TcpListener;

/// The provider, the wires to it and from it, and the port of the stack that it reports to.
pub(super) struct Storm {
    pub(super) provider: PretendProvider,
    pub(super) secret: String,
    pub(super) port: u16,
    to_provider: Wire,
    to_shop: Wire,
}

const CALLS: [Option<Call>; 10] = [
    None,
    Some(Call::CreateIntent),
    Some(Call::ReadIntent),
    Some(Call::ConfirmIntent),
    Some(Call::CaptureIntent),
    Some(Call::CancelIntent),
    Some(Call::CreateRefund),
    Some(Call::ListRefunds),
    Some(Call::ListDisputes),
    Some(Call::ListEvents),
];

/// The answers to any call. Some calls are refused for good, too, and refunds fail.
const ANSWERS: [Answer; 7] = [
    Answer::ServerError,
    Answer::ServerErrorAfterwards,
    Answer::RateLimit,
    Answer::LockTimeout,
    Answer::IdempotencyKeyInUse,
    Answer::Cut,
    Answer::Slow,
];
const REFUSABLE: [Call; 3] = [Call::CreateIntent, Call::CaptureIntent, Call::CreateRefund];

const WEBHOOKS: [Webhooks; 6] =
    [Webhooks::Once, Webhooks::Once, Webhooks::Off, Webhooks::Late, Webhooks::Twice, Webhooks::Reversed];

impl Storm {
    /// Starts a provider that nothing is wrong with.
    pub(super) async fn start() -> Result<Self> {
        let keys = Keys::random();
        let listener = TcpListener::bind("127.0.0.1:0").await.context("no port for the provider")?;
        let mut provider = PretendProvider::start(listener, keys.clone(), None)?;
        let port = free_port().await?;
        let to_provider = Wire::to(provider.url()).await;
        let to_shop = Wire::to(&format!("http://127.0.0.1:{port}")).await;
        provider.send_webhooks_to(&format!("{}/payment-events", to_shop.url()));
        Ok(Self { provider, secret: keys.secret(), port, to_provider, to_shop })
    }

    /// The provider's URL for the stack.
    pub(super) fn url(&self) -> &str {
        self.to_provider.url()
    }

    /// Lets this share of the requests on the wires fail, and troubles come at the provider, until `end`.
    pub(super) async fn rage(&self, share: f64, mut random: Rng, end: Instant) {
        self.to_provider.fail(share, random.u64(..));
        self.to_shop.fail(share, random.u64(..));
        let amount_refunded_falls = random.bool();
        while Instant::now() < end {
            let act = if random.u8(..5) == 0 {
                let webhooks = WEBHOOKS[random.usize(..WEBHOOKS.len())];
                let balance_is_empty = random.u8(..6) == 0;
                Act::Switch(Switches { webhooks, balance_is_empty, amount_refunded_falls, next: Vec::new() })
            } else {
                let answer = ANSWERS[random.usize(..ANSWERS.len())];
                let (call, answer) = match random.u8(..8) {
                    0 => (Some(REFUSABLE[random.usize(..REFUSABLE.len())]), Answer::Refused),
                    1 => (Some(Call::CreateRefund), Answer::RefundFails),
                    _ => (CALLS[random.usize(..CALLS.len())], answer),
                };
                Act::Next { call, answer }
            };
            _ = self.provider.act(act);
            tokio::time::sleep(Duration::from_millis(random.u64(100..2000))).await;
        }
    }

    /// From now on everything works.
    pub(super) fn calm(&self) {
        self.to_provider.heal();
        self.to_shop.heal();
        _ = self.provider.act(Act::Switch(Switches::default()));
    }

    /// Whether the stack has taken all webhooks.
    pub(super) fn is_quiet(&self) -> bool {
        self.provider.webhooks_waiting() == 0 && self.to_provider.is_idle() && self.to_shop.is_idle()
    }

    /// The statuses with which the stack answered webhooks and that none may have.
    pub(super) fn wrong_answers(&self) -> Vec<u16> {
        self.to_shop.statuses().into_iter().filter(|status| ![204, 503].contains(status)).collect()
    }

    /// The bank's decision of an open dispute or inquiry of an order, if there is one.
    pub(super) fn decision(&self, order: &str, won: bool) -> Option<Act> {
        use DisputeStatus::{Lost, NeedsResponse, WarningClosed, WarningNeedsResponse, Won};

        let entry = self.provider.newest_of(order)?;
        let is_open = |one: &&Dispute| matches!(one.status, NeedsResponse | WarningNeedsResponse);
        let dispute = entry.disputes.iter().rfind(is_open)?;
        let status = match dispute.status {
            WarningNeedsResponse if won => WarningClosed,
            WarningNeedsResponse => NeedsResponse,
            _ if won => Won,
            _ => Lost,
        };
        Some(Act::UpdateDispute { dispute: dispute.id.clone(), status })
    }

    /// The bank decides it.
    pub(super) fn decide(&self, order: &str, won: bool) {
        _ = self.decision(order, won).map(|act| self.provider.act(act));
    }
}

/// A free port below those that clients get, so that nobody takes it while the stack is dead.
async fn free_port() -> Result<u16> {
    for _ in 0..100 {
        let port = fastrand::u16(20_000..30_000);
        if TcpListener::bind(("127.0.0.1", port)).await.is_ok() {
            return Ok(port);
        }
    }
    anyhow::bail!("no port is free")
}
