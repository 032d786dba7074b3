import CLMDB
import Locking

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension LMDBError.Code {
  /// Creates the code for a status of LMDB or of the system.
  init(status: Int32) {
    self =
      switch status {
      case MDB_MAP_FULL: .mapFull
      case MDB_MAP_RESIZED: .mapResized
      case MDB_DBS_FULL: .databasesFull
      case MDB_READERS_FULL: .readersFull
      case MDB_CORRUPTED: .corrupted
      case MDB_PAGE_NOTFOUND: .pageNotFound
      case MDB_PANIC: .panic
      case MDB_VERSION_MISMATCH: .versionMismatch
      case MDB_INVALID: .invalid
      case MDB_TXN_FULL, MDB_CURSOR_FULL, MDB_PAGE_FULL: .transactionFull
      case MDB_INCOMPATIBLE: .incompatible
      case MDB_BAD_RSLOT: .badReaderSlot
      case MDB_BAD_TXN: .badTransaction
      case MDB_BAD_VALSIZE: .badValueSize
      case MDB_BAD_DBI: .badDatabase
      case MDB_KEYEXIST: .keyExists
      case _ where SystemError.isAboutSpace(status): .noSpace
      case EIO: .ioError
      case EACCES, EPERM, EROFS: .permission
      case ENOENT: .notFoundDirectory
      case ENOTDIR: .notADirectory
      case ENOMEM, EMFILE, ENFILE: .outOfResources
      case EINVAL: .invalidArgument
      default: .other(status)
      }
  }
}

extension LMDBError {
  /// Advice for the person who runs the program, or nil if the message is sufficient.
  package var hint: String? {
    switch code {
    case .mapFull: "remove entries in smaller transactions, or open with a larger map"
    case .mapResized: "close the environment, and open it with a map at least as large as the other process's map"
    case .databasesFull: "open with a larger maximumDatabases"
    case .readersFull: "clear stale readers, or keep fewer read transactions open at once"
    case .corrupted, .pageNotFound: "set aside the damaged file, and create a new one"
    case .panic: "close the environment and open it again"
    case .versionMismatch, .invalid: "set aside the file, and create a new one"
    case .transactionFull: "divide the transaction into smaller ones"
    case .incompatible: "open the database with the key type that it was created with"
    case .badReaderSlot, .badTransaction: "end the transaction and begin another"
    case .badValueSize: "use keys of 1 to 511 bytes"
    case .badDatabase: "open the database before the transaction begins"
    case .noSpace: "free space on the disk; earlier commits are still readable"
    case .ioError: "try again, or set aside the file; earlier commits may still be readable"
    case .permission:
      "this user must be able to read and write the directory and its files; a reader must be able to write to lock.mdb"
    case .notFoundDirectory: "create the directory, or open it without readOnly"
    case .notADirectory: "use the path of a directory"
    case .outOfResources: "raise the limits on memory, address space or open files"
    case .closed: "open the environment again"
    case .forked: "open the environment in this process"
    case .truncated: "set aside the file, and create a new one"
    case .conflictingOpen: "open it with the same options, or close the other environment first"
    case .busy: "end the transaction of this thread first"
    case .other(EAGAIN): "another process with the same ID, as in another container, may have the directory open"
    case .keyExists, .databaseNotFound, .readOnly, .invalidArgument, .other: nil
    }
  }
}
