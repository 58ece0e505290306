//! The connection to the database of tasks, memories and runs.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::Result;

/// The open database with the tables of tasks, memories and runs.
#[derive(Debug)]
pub struct WorkDatabase {
    pub(crate) connection: Connection,
}

impl WorkDatabase {
    /// Begins a write transaction.
    pub(crate) fn write_transaction(&self) -> Result<Transaction<'_>> {
        Ok(Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?)
    }
}
