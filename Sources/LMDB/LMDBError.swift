import CLMDB

/// An error of LMDB or of this layer.
///
/// An absent key is not an error: lookups return nil.
@usableFromInline
package struct LMDBError: Error, Sendable, Equatable {
  /// The kind of failure.
  @usableFromInline
  package enum Code: Sendable, Hashable {
    /// The map has no room left. The transaction is lost, but smaller ones may still succeed.
    case mapFull
    /// Another process made the map larger than the one in this process.
    case mapResized
    /// The environment was opened for fewer named databases.
    case databasesFull
    /// No reader slot is free.
    case readersFull
    /// A page has invalid content.
    case corrupted
    /// A page does not exist, although another page refers to it.
    case pageNotFound
    /// A fatal error occurred earlier. No operation works until the environment is closed and opened again.
    case panic
    /// Another version of LMDB's format wrote the file.
    case versionMismatch
    /// The file is not an LMDB file.
    case invalid
    /// The transaction is too large.
    case transactionFull
    /// The database has other flags, or the name belongs to an entry that is not a database.
    case incompatible
    /// A reader slot has an invalid state.
    case badReaderSlot
    /// The transaction failed earlier and can only end.
    case badTransaction
    /// A key is empty or too long, or a value is too long.
    case badValueSize
    /// The handle belongs to no database that the transaction can see.
    case badDatabase
    /// The key exists already, or is not greater than the last key in an append.
    case keyExists
    /// The environment has no database with the name.
    case databaseNotFound
    /// The disk is full.
    case noSpace
    /// The disk failed.
    case ioError
    /// The process may not read or write the file.
    case permission
    /// The directory or the file in it does not exist.
    case notFoundDirectory
    /// The path does not lead to a directory.
    case notADirectory
    /// The process has no memory, address space or file descriptors left.
    case outOfResources
    /// The environment is read-only.
    case readOnly
    /// The environment is closed or closing.
    case closed
    /// The environment belongs to the parent process of a fork.
    case forked
    /// The file is shorter than its pages state. Reading the missing part would kill the process.
    case truncated
    /// The environment is open in this process with other options, or a file was replaced while it was open.
    case conflictingOpen
    /// The calling thread is inside a transaction that must end first.
    case busy
    /// An option is out of range.
    case invalidArgument
    /// Another status of LMDB or of the system.
    case other(Int32)
  }

  /// The kind of failure.
  package let code: Code
  /// The operation that failed, and its subject.
  package let operation: String
  /// The cause, in the words of LMDB, of the system or of this layer.
  package let message: String

  package init(_ code: Code, operation: String, message: String) {
    self.code = code
    self.operation = operation
    self.message = message
  }

  /// Creates the error for a status that LMDB or the system returned.
  @usableFromInline
  @inline(never)
  package init(status: Int32, operation: String) {
    self.init(
      Code(status: status), operation: operation,
      message: unsafe mdb_strerror(status).map { unsafe String(cString: $0) } ?? "error \(status)")
  }
}

extension LMDBError: CustomStringConvertible {
  /// The operation, the cause and the advice on one line.
  @usableFromInline
  package var description: String {
    "\(operation): \(message)" + (hint.map { " (\($0))" } ?? "")
  }
}

extension LMDBError {
  /// The operation of LMDB's own commit.
  package static let commitOperation = "commit"
  /// The operation of a write-through apart from a commit.
  package static let synchronizeOperation = "synchronize"

  /// Whether the system can have reported with this error that the device lacks pages of earlier commits.
  ///
  /// Only a commit and a write-through do that. The error of a file that cannot grow has another operation, and
  /// concerns no earlier commit.
  package var canReportLostPages: Bool {
    (operation == LMDBError.commitOperation || operation == LMDBError.synchronizeOperation)
      && (code == .ioError || code == .noSpace)
  }
}

/// Throws the error for a status. Does nothing if the status is success.
@inlinable
func check(_ status: Int32, _ operation: @autoclosure () -> String) throws(LMDBError) {
  if status != MDB_SUCCESS { throw LMDBError(status: status, operation: operation()) }
}
