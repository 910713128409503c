//! The payment provider, which outlives the kills of the stack, and what goes wrong there.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::ValueEnum as _;
use fastrand::Rng;
use local::pretend_provider::{Act, Answer, Call, Keys, PretendProvider, Switches, Webhooks};
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

/// The calls that the provider refuses for good. If it refuses a look at a payment, the shop has a defect.
const REFUSABLE: [Call; 3] = [Call::CreateIntent, Call::CaptureIntent, Call::CreateRefund];

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
                let webhooks = any(&mut random, Webhooks::value_variants());
                let balance_is_empty = random.u8(..6) == 0;
                Act::Switch(Switches { webhooks, balance_is_empty, amount_refunded_falls, next: Vec::new() })
            } else {
                let answer = any(&mut random, Answer::value_variants());
                let calls = if answer == Answer::Refused { &REFUSABLE } else { Call::value_variants() };
                Act::Next { call: Some(any(&mut random, calls)), answer }
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
}

fn any<T: Copy>(random: &mut Rng, all: &[T]) -> T {
    all[random.usize(..all.len())]
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
