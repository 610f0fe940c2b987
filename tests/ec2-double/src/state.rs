//! Everything that the double knows, and how it answers a question from it.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::answers;
use crate::calls::Call;
use crate::clock::Clock;
use crate::describe::{self, Described, Reading};
use crate::error::Ec2Error;
use crate::faults::{Fault, Faults};
use crate::lies::{AllLies, Lies};
use crate::nonsense::{self, Dice};
use crate::records::{Instance, Volume};
use crate::request::{Action, Parameters};
use crate::view::{self, Consistency};
use crate::world::{StateChange, World};
use crate::xml::Xml;

/// What is sent back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: String,
    pub(crate) request_id: String,
    /// The double's time.
    pub(crate) date: Timestamp,
    /// Before it is sent.
    pub(crate) delay: Duration,
    pub(crate) ending: Ending,
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Whole,
    /// In the middle of the XML; HTTP does not show it.
    Truncated,
    /// In the middle of the XML, and the connection with it.
    CutOff,
    /// Before it begins.
    Reset,
    /// Never: it does not begin.
    Hang,
}

/// How what an action lists comes from the world into the answer.
struct Listed<T: 'static> {
    action: Action,
    /// What a read sees of the world at a time, of these ids or of all.
    seen: fn(&World, Timestamp, &[String]) -> Vec<T>,
    lies: fn(&mut AllLies) -> &mut Lies<T>,
    nonsense: fn(&mut Dice, &mut Vec<T>, &World),
    /// The answer's element that holds the list.
    element: &'static str,
    write: fn(&mut Xml, &T),
}

const VOLUMES: Listed<Volume> = Listed {
    action: Action::DescribeVolumes,
    seen: view::volumes,
    lies: |lies| &mut lies.volumes,
    nonsense: nonsense::volumes,
    element: "volumeSet",
    write: answers::volume,
};

const INSTANCES: Listed<Instance> = Listed {
    action: Action::DescribeInstances,
    seen: view::instances,
    lies: |lies| &mut lies.instances,
    nonsense: nonsense::instances,
    element: "reservationSet",
    write: answers::reservation,
};

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) clock: Clock,
    pub(crate) world: World,
    pub(crate) faults: Faults,
    pub(crate) lies: AllLies,
    pub(crate) calls: Vec<Call>,
    pub(crate) consistency: BTreeMap<Action, (Consistency, u64)>,
    numbers: BTreeMap<Action, u64>,
    requests: u64,
}

impl State {
    pub(crate) fn new(clock: Clock, world: World) -> Self {
        Self {
            clock,
            world,
            faults: Faults::default(),
            lies: AllLies::default(),
            calls: Vec::new(),
            consistency: BTreeMap::new(),
            numbers: BTreeMap::new(),
            requests: 0,
        }
    }

    /// Lets happen what is due.
    pub(crate) fn tick(&mut self) {
        self.world.settle(self.clock.now());
    }

    /// What goes wrong with the next call of this action; it counts as one.
    pub(crate) fn next_faults(&mut self, action: Action) -> Vec<Fault> {
        let number = self.numbers.entry(action).or_default();
        *number += 1;
        self.faults.of(action, *number)
    }

    /// Answers a form.
    pub(crate) fn answer(&mut self, form: &[u8]) -> Reply {
        self.tick();
        let parameters = Parameters::parse(form);
        self.requests += 1;
        let request_id = format!("00000000-0000-4000-8000-{:012x}", self.requests);
        let name = parameters.get("Action").unwrap_or_default().to_owned();
        let action = Action::named(&name);
        let faults = action.map(|action| self.next_faults(action)).unwrap_or_default();
        let answer = match action {
            Some(action) => self.act(action, &parameters, &faults, &request_id),
            None => Err(unknown_action(&name)),
        };
        self.tick();
        let (status, body, code) = match answer {
            Ok(body) => (200, body, None),
            Err(error) => (error.status, answers::error(&error, &request_id), Some(error.code)),
        };
        let ending = ending(&faults);
        let status_shown = (!matches!(ending, Ending::Reset | Ending::Hang)).then_some(status);
        let at = self.world.now();
        self.calls.push(Call { at, action: name, parameters, status: status_shown, code });
        Reply { status, body, request_id, date: at, delay: delay(&faults), ending }
    }

    fn act(
        &mut self,
        action: Action,
        parameters: &Parameters,
        faults: &[Fault],
        request_id: &str,
    ) -> Result<String, Ec2Error> {
        if let Some(error) = faults.iter().find_map(Fault::error) {
            return Err(error);
        }
        if parameters.flag("DryRun") {
            let text = "Request would have succeeded, but DryRun flag is set.";
            return Err(Ec2Error::new(412, "DryRunOperation", text));
        }
        match action {
            Action::DescribeVolumes => self.describe(parameters, faults, request_id, &VOLUMES),
            Action::DescribeInstances => self.describe(parameters, faults, request_id, &INSTANCES),
            Action::AttachVolume | Action::DetachVolume | Action::DeleteVolume => {
                self.change_volume(action, parameters, faults, request_id)
            }
            Action::TerminateInstances | Action::StopInstances | Action::StartInstances => {
                self.change_instances(action, parameters, faults, request_id)
            }
        }
    }

    fn describe<T: Described + 'static>(
        &mut self,
        parameters: &Parameters,
        faults: &[Fault],
        request_id: &str,
        kind: &Listed<T>,
    ) -> Result<String, Ec2Error> {
        let at = self.seen_by(kind.action);
        let (now, naming) = (self.world.now(), self.world.naming);
        let candidates = (kind.seen)(&self.world, at, &parameters.list(T::ID_PARAMETER));
        let lies = (kind.lies)(&mut self.lies);
        let mut page = describe::read(parameters, Reading { candidates, lies, now, naming, faults })?;
        if let Some(mut dice) = nonsense::dice(faults, self.requests) {
            (kind.nonsense)(&mut dice, &mut page.items, &self.world);
        }
        Ok(answers::response(kind.action, request_id, |xml| {
            xml.list(kind.element, &page.items, kind.write);
            xml.optional("nextToken", page.next_token.as_deref());
        }))
    }

    /// The time that this read sees.
    fn seen_by(&mut self, action: Action) -> Timestamp {
        let (consistency, number) = self.consistency.entry(action).or_default();
        let at = consistency.sees(self.world.now(), *number);
        *number += 1;
        at
    }

    fn change_volume(
        &mut self,
        action: Action,
        parameters: &Parameters,
        faults: &[Fault],
        request_id: &str,
    ) -> Result<String, Ec2Error> {
        let volume = parameters.required("VolumeId")?;
        if faults.contains(&Fault::WrongRegion) {
            return Err(Ec2Error::no_volume(volume));
        }
        let world = &mut self.world;
        let attachment = match action {
            Action::AttachVolume => {
                Some(world.attach(volume, parameters.required("InstanceId")?, parameters.required("Device")?)?)
            }
            Action::DetachVolume => {
                Some(world.detach(volume, parameters.get("InstanceId"), parameters.flag("Force"))?)
            }
            _ => {
                world.delete_volume(volume)?;
                None
            }
        };
        Ok(answers::response(action, request_id, |xml| match &attachment {
            Some(attachment) => answers::attachment(xml, volume, attachment),
            None => xml.text("return", "true"),
        }))
    }

    fn change_instances(
        &mut self,
        action: Action,
        parameters: &Parameters,
        faults: &[Fault],
        request_id: &str,
    ) -> Result<String, Ec2Error> {
        let ids = parameters.list("InstanceId");
        if ids.is_empty() {
            return Err(Ec2Error::missing_parameter("InstanceId"));
        }
        let world = &mut self.world;
        // All or none: one id that is not there changes nothing.
        for id in &ids {
            let is_there = !faults.contains(&Fault::WrongRegion) && world.instance(id).is_some();
            is_there.then_some(()).ok_or_else(|| Ec2Error::no_instance(id))?;
        }
        let change = |id: &String| match action {
            Action::TerminateInstances => world.terminate(id),
            Action::StopInstances => world.stop(id),
            _ => world.start(id),
        };
        let changes: Vec<StateChange> = ids.iter().map(change).collect::<Result<_, _>>()?;
        Ok(answers::response(action, request_id, |xml| answers::state_changes(xml, &changes)))
    }
}

fn unknown_action(name: &str) -> Ec2Error {
    if name.is_empty() {
        return Ec2Error::client("MissingAction", "The request must contain the parameter Action");
    }
    Ec2Error::client("InvalidAction", format!("The action {name} is not valid for this web service."))
}

fn ending(faults: &[Fault]) -> Ending {
    let of = |fault: &Fault| match fault {
        Fault::Truncated => Some(Ending::Truncated),
        Fault::CutOff => Some(Ending::CutOff),
        Fault::Reset => Some(Ending::Reset),
        Fault::Hang => Some(Ending::Hang),
        _ => None,
    };
    faults.iter().find_map(of).unwrap_or(Ending::Whole)
}

/// All delays together.
pub(crate) fn delay(faults: &[Fault]) -> Duration {
    let of = |fault: &Fault| match fault {
        Fault::Slow(delay) => Some(*delay),
        _ => None,
    };
    faults.iter().filter_map(of).sum()
}
