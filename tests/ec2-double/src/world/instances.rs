//! The life of an instance.

use std::time::Duration;

use crate::clock::later;
use crate::error::Ec2Error;
use crate::states::InstanceState;
use crate::world::World;
use crate::world::due::Event;

/// What a call did to an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateChange {
    /// The instance.
    pub id: String,
    /// Its state before.
    pub previous: InstanceState,
    /// Its state now.
    pub current: InstanceState,
}

impl World {
    /// Ends an instance: `shutting-down`, then `terminated`, then its volumes become free, then nobody knows it any more.
    ///
    /// # Errors
    /// `InvalidInstanceID.NotFound`.
    pub fn terminate(&mut self, id: &str) -> Result<StateChange, Ec2Error> {
        let previous = self.known_instance(id)?.state.clone();
        if matches!(previous, InstanceState::ShuttingDown | InstanceState::Terminated) {
            return Ok(StateChange { id: id.to_owned(), current: previous.clone(), previous });
        }
        let wait = self.timing.shutting_down;
        Ok(self.begin(id, InstanceState::ShuttingDown, wait, Event::Terminated { instance: id.to_owned() }))
    }

    /// Stops an instance; its volumes stay attached.
    ///
    /// # Errors
    /// `InvalidInstanceID.NotFound`; `IncorrectInstanceState` where it is at its end.
    pub fn stop(&mut self, id: &str) -> Result<StateChange, Ec2Error> {
        let previous = self.known_instance(id)?.state.clone();
        match previous {
            InstanceState::Stopping | InstanceState::Stopped => {
                Ok(StateChange { id: id.to_owned(), current: previous.clone(), previous })
            }
            InstanceState::Pending | InstanceState::Running | InstanceState::Other(_) => {
                let wait = self.timing.stopping;
                Ok(self.begin(id, InstanceState::Stopping, wait, Event::Stopped { instance: id.to_owned() }))
            }
            InstanceState::ShuttingDown | InstanceState::Terminated => Err(wrong_state(id, "stopped")),
        }
    }

    /// Starts a stopped instance.
    ///
    /// # Errors
    /// `InvalidInstanceID.NotFound`; `IncorrectInstanceState` where it is not `stopped`.
    pub fn start(&mut self, id: &str) -> Result<StateChange, Ec2Error> {
        let previous = self.known_instance(id)?.state.clone();
        match previous {
            InstanceState::Pending | InstanceState::Running => {
                Ok(StateChange { id: id.to_owned(), current: previous.clone(), previous })
            }
            InstanceState::Stopped => {
                let wait = self.timing.pending;
                Ok(self.begin(id, InstanceState::Pending, wait, Event::Running { instance: id.to_owned() }))
            }
            InstanceState::Stopping
            | InstanceState::ShuttingDown
            | InstanceState::Terminated
            | InstanceState::Other(_) => Err(wrong_state(id, "started")),
        }
    }

    /// The first half of a change that takes time.
    fn begin(&mut self, id: &str, state: InstanceState, wait: Duration, event: Event) -> StateChange {
        let mut previous = state.clone();
        self.edit_instance(id, |instance| previous = std::mem::replace(&mut instance.state, state.clone()));
        self.due.plan(later(self.now, wait), event);
        StateChange { id: id.to_owned(), previous, current: state }
    }
}

fn wrong_state(id: &str, verb: &str) -> Ec2Error {
    let text = format!("The instance '{id}' is not in a state from which it can be {verb}.");
    Ec2Error::client("IncorrectInstanceState", text)
}
