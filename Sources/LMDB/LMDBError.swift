import CLMDB

/// What LMDB, or this layer over it, refused or failed to do.
///
/// A key that is not there is not an error: reads answer nil.
@usableFromInline
package struct LMDBError: Error, Sendable, Equatable {
  /// The kind of failure, for code to switch on.
  @usableFromInline
  package enum Code: Sendable, Hashable {
    /// The map, which is the limit of the file, has no room. The transaction is lost; smaller ones may still pass.
    case mapFull
    /// Another process made the map larger than this one's.
    case mapResized
    /// More named databases than the environment was opened for.
    case databasesFull
    /// No reader slot is free.
    case readersFull
    /// A page is not what it should be.
    case corrupted
    /// A page that is referred to does not exist.
    case pageNotFound
    /// A fatal error came before; nothing works until the environment is closed and opened again.
    case panic
    /// The file was written by another version of LMDB's format.
    case versionMismatch
    /// The file is not LMDB's.
    case invalid
    /// The transaction has done more than one transaction can.
    case transactionFull
    /// The database is of another kind, or the name is not a database's.
    case incompatible
    /// A reader slot is in a state that it cannot be in.
    case badReaderSlot
    /// The transaction failed before, and can only end.
    case badTransaction
    /// A key is empty or too long, or a value too long.
    case badValueSize
    /// The handle is not of a database that the transaction can see.
    case badDatabase
    /// The key stands there already, or does not follow the last one while appending.
    case keyExists
    /// There is no database of that name.
    case databaseNotFound
    /// The disk has no room.
    case noSpace
    /// The disk failed.
    case ioError
    /// The process may not read or write the file.
    case permission
    /// The directory, or the file in it, does not exist.
    case notFoundDirectory
    /// The path leads to something that is not a directory.
    case notADirectory
    /// The process has no memory, address space or file descriptors left.
    case outOfResources
    /// The environment is read-only.
    case readOnly
    /// The environment was closed, or is closing.
    case closed
    /// The environment belongs to the process that this one was forked from.
    case forked
    /// The file is shorter than its own pages say; reading it would end the process.
    case truncated
    /// The environment is open in this process with other options, or its file was replaced under it.
    case conflictingOpen
    /// The calling thread is inside a transaction that would have to end first.
    case busy
    /// An option that cannot be.
    case invalidArgument
    /// Any other code of LMDB's or of the system's.
    case other(Int32)
  }

  /// The kind of failure.
  package let code: Code
  /// What was tried, and on what.
  package let operation: String
  /// What was wrong: LMDB's or the system's own sentence, or this layer's.
  package let message: String

  package init(_ code: Code, operation: String, message: String) {
    self.code = code
    self.operation = operation
    self.message = message
  }

  /// The error for a status that LMDB returned.
  @usableFromInline
  @inline(never)
  package init(status: Int32, operation: String) {
    self.init(
      Code(status: status), operation: operation,
      message: unsafe mdb_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)")
  }
}

extension LMDBError: CustomStringConvertible {
  /// What was tried, what was wrong, and what to do, on one line.
  @usableFromInline
  package var description: String {
    "\(operation): \(message)" + (hint.map { " (\($0))" } ?? "")
  }
}

/// Throws what a status of LMDB's stands for; success passes.
@inlinable
func check(_ status: Int32, _ operation: @autoclosure () -> String) throws(LMDBError) {
  if status != MDB_SUCCESS { throw LMDBError(status: status, operation: operation()) }
}
