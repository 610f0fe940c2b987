//! The states that EC2 names, each with a case for a word that no SDK knows.

use std::fmt;

/// An enum of words, open at the end.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$case_doc])* $case,)*
            /// A word that the API's description does not list.
            Other(String),
        }

        impl $name {
            /// The word on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$case => $word,)*
                    Self::Other(word) => word,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// The state of a volume.
    VolumeState {
        /// It is being made.
        Creating = "creating",
        /// It is attached nowhere.
        Available = "available",
        /// It is attached, or on its way in or out.
        InUse = "in-use",
        /// It is being deleted.
        Deleting = "deleting",
        /// It is gone, and may be shown for a while.
        Deleted = "deleted",
        /// The hardware below it failed.
        Error = "error",
    }
}

words! {
    /// The state of an attachment.
    AttachmentState {
        /// On its way in.
        Attaching = "attaching",
        /// There.
        Attached = "attached",
        /// On its way out.
        Detaching = "detaching",
        /// To be detached, but the machine still holds the device.
        Busy = "busy",
        /// Gone, and may be shown for a while.
        Detached = "detached",
    }
}

words! {
    /// The state of an instance.
    InstanceState {
        /// It is starting.
        Pending = "pending",
        /// It runs.
        Running = "running",
        /// It is on its way to its end; it may still write.
        ShuttingDown = "shutting-down",
        /// It is dead for good.
        Terminated = "terminated",
        /// It is on its way to `stopped`.
        Stopping = "stopping",
        /// It is off and can be started again.
        Stopped = "stopped",
    }
}

impl InstanceState {
    /// The number that goes with the word.
    pub fn code(&self) -> u16 {
        match self {
            Self::Pending => 0,
            Self::Running => 16,
            Self::ShuttingDown => 32,
            Self::Terminated => 48,
            Self::Stopping => 64,
            Self::Stopped => 80,
            Self::Other(_) => 255,
        }
    }
}
