//! The open database, which every noun has its tables in.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::Result;

/// An open database.
#[derive(Debug)]
pub struct Work {
    pub(crate) connection: Connection,
}

impl Work {
    /// A transaction for writing.
    pub(crate) fn step(&self) -> Result<Transaction<'_>> {
        Ok(Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?)
    }
}
