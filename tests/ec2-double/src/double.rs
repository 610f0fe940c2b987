//! The handle that a test holds.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::calls::Call;
use crate::clock::Clock;
use crate::error::Ec2Error;
use crate::faults::Fault;
use crate::lies::Span;
use crate::records::{Instance, Volume};
use crate::request::Action;
use crate::server;
use crate::state::{self, Reply, State};
use crate::view::Consistency;
use crate::world::{Timing, World};

/// How a double is started.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Its clock.
    pub clock: Clock,
    /// How long things take.
    pub timing: Timing,
    /// Where it listens; port 0 takes a free one.
    pub address: SocketAddr,
}

impl Default for Options {
    /// The machine's clock, EC2's own speed, a free port of the loopback.
    fn default() -> Self {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self { clock: Clock::real(), timing: Timing::default(), address }
    }
}

/// A running EC2. Its clones are the same EC2; it ends with the last of them.
#[derive(Clone, Debug)]
pub struct Double {
    shared: Arc<Shared>,
    server: Arc<Server>,
}

/// What the server and the handles share.
#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    calls: watch::Sender<usize>,
}

#[derive(Debug)]
struct Server {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A test that panicked while it held the world fails by itself; the others may go on.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn answer(&self, form: &[u8]) -> Reply {
        let mut state = self.lock();
        let reply = state.answer(form);
        let count = state.calls.len();
        drop(state);
        self.calls.send_replace(count);
        reply
    }
}

impl Double {
    /// Starts one on the machine's clock and a free port of the loopback.
    ///
    /// # Panics
    /// Where the loopback has no free port.
    pub async fn start() -> Self {
        Self::start_with(Options::default()).await.expect("the loopback has a free port")
    }

    /// Starts one whose clock stands at `now` until [`Double::advance`].
    ///
    /// # Panics
    /// Where the loopback has no free port.
    pub async fn start_at(now: Timestamp) -> Self {
        let options = Options { clock: Clock::manual(now), ..Options::default() };
        Self::start_with(options).await.expect("the loopback has a free port")
    }

    /// Starts one.
    ///
    /// # Errors
    /// Where the address cannot be bound.
    pub async fn start_with(options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind(options.address).await?;
        let address = listener.local_addr()?;
        let world = World::new(options.timing, options.clock.now());
        let state = Mutex::new(State::new(options.clock, world));
        let shared = Arc::new(Shared { state, calls: watch::Sender::new(0) });
        let task = tokio::spawn(server::serve(listener, Arc::clone(&shared)));
        Ok(Self { shared, server: Arc::new(Server { address, task }) })
    }

    /// What a client takes for `--endpoint-url`.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.server.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.server.address
    }

    /// Looks at the world or changes it; what is due has happened before.
    pub fn with<R>(&self, look: impl FnOnce(&mut World) -> R) -> R {
        let mut state = self.shared.lock();
        state.tick();
        let result = look(&mut state.world);
        state.tick();
        result
    }

    /// What time it is for EC2.
    pub fn now(&self) -> Timestamp {
        self.shared.lock().clock.now()
    }

    /// Puts the clock forward.
    pub fn advance(&self, by: Duration) {
        let mut state = self.shared.lock();
        state.clock.advance(by);
        state.tick();
    }

    /// The next calls of an action go wrong in these ways, one after the other.
    pub fn fault_next(&self, action: Action, faults: impl IntoIterator<Item = Fault>) {
        self.shared.lock().faults.queue(action, faults);
    }

    /// A rule says for every call of an action what goes wrong. It is given the number of the call: the first since the
    /// start has number 1. Several rules may apply to one call (slow and throttled, say).
    pub fn fault_when(&self, action: Action, rule: impl FnMut(u64) -> Option<Fault> + Send + 'static) {
        self.shared.lock().faults.rule(action, Box::new(rule));
    }

    /// Every call of an action goes wrong in this way.
    pub fn fault_always(&self, action: Action, fault: Fault) {
        self.fault_when(action, move |_| Some(fault.clone()));
    }

    /// Every call of every action goes wrong in this way.
    pub fn fault_everything(&self, fault: &Fault) {
        Action::ALL.into_iter().for_each(|action| self.fault_always(action, fault.clone()));
    }

    /// Nothing goes wrong any more. Lies and lags stay.
    pub fn clear_faults(&self) {
        self.shared.lock().faults.clear();
    }

    /// How fresh the reads of [`Action::DescribeVolumes`] or [`Action::DescribeInstances`] are. A lag of only one of the two
    /// makes them disagree.
    pub fn set_consistency(&self, action: Action, consistency: Consistency) {
        self.shared.lock().consistency.insert(action, (consistency, 0));
    }

    /// DescribeVolumes says something else of a volume than what is so. The world stays as it is.
    pub fn lie_about_volume(&self, id: &str, span: Span, alter: impl Fn(&mut Volume) + Send + 'static) {
        let mut state = self.shared.lock();
        let now = state.clock.now();
        let alter = move |volume: &mut Volume| {
            alter(volume);
            true
        };
        state.lies.volumes.add(id, span, now, Box::new(alter));
    }

    /// DescribeInstances says something else of an instance than what is so: that it is `terminated` while it runs, say.
    /// The world stays as it is.
    pub fn lie_about_instance(&self, id: &str, span: Span, alter: impl Fn(&mut Instance) + Send + 'static) {
        let mut state = self.shared.lock();
        let now = state.clock.now();
        let alter = move |instance: &mut Instance| {
            alter(instance);
            true
        };
        state.lies.instances.add(id, span, now, Box::new(alter));
    }

    /// Reads answer as if there were no volume or instance of this id, with the error that belongs to it.
    pub fn hide(&self, id: &str, span: Span) {
        let mut state = self.shared.lock();
        let now = state.clock.now();
        state.lies.volumes.add(id, span, now, Box::new(|_| false));
        state.lies.instances.add(id, span, now, Box::new(|_| false));
    }

    /// No lie is told any more.
    pub fn stop_lying(&self) {
        self.shared.lock().lies = crate::lies::AllLies::default();
    }

    /// Every call that came over the wire, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.shared.lock().calls.clone()
    }

    /// The calls of one action, in order.
    pub fn calls_of(&self, action: Action) -> Vec<Call> {
        let state = self.shared.lock();
        state.calls.iter().filter(|call| call.action == action.as_str()).cloned().collect()
    }

    /// How many calls of an action came over the wire.
    pub fn count(&self, action: Action) -> usize {
        self.shared.lock().calls.iter().filter(|call| call.action == action.as_str()).count()
    }

    /// Forgets the calls. The numbers that rules are given go on.
    pub fn clear_calls(&self) {
        self.shared.lock().calls.clear();
    }

    /// Waits until an action has been called so often, counted as [`Double::count`] does.
    pub async fn called(&self, action: Action, times: usize) {
        let mut calls = self.shared.calls.subscribe();
        while self.count(action) < times {
            // The sender lives as long as `self`.
            if calls.changed().await.is_err() {
                return;
            }
        }
    }

    /// Attaches a volume for a caller in this process. What is scripted to go wrong with AttachVolume goes wrong here too
    /// (errors and delays; what concerns the wire does not). It is no call over the wire and is not counted as one.
    ///
    /// # Errors
    /// As [`World::attach`], and what is scripted.
    pub async fn attach(&self, volume: &str, instance: &str, device: &str) -> Result<(), Ec2Error> {
        self.suffer(Action::AttachVolume).await?;
        self.with(|world| world.attach(volume, instance, device)).map(drop)
    }

    /// Detaches a volume for a caller in this process, as [`Double::attach`].
    ///
    /// # Errors
    /// As [`World::detach`], and what is scripted.
    pub async fn detach(&self, volume: &str, instance: &str) -> Result<(), Ec2Error> {
        self.suffer(Action::DetachVolume).await?;
        self.with(|world| world.detach(volume, Some(instance), false)).map(drop)
    }

    async fn suffer(&self, action: Action) -> Result<(), Ec2Error> {
        let faults = self.shared.lock().next_faults(action);
        tokio::time::sleep(state::delay(&faults)).await;
        faults.iter().find_map(Fault::error).map_or(Ok(()), Err)
    }
}
