import CisternCore
import LMDB

extension DiskFile {
  /// The tables with the records of a file.
  enum Layout: Sendable {
    case records(RecordTables)
    case extents(FileTables)

    /// Opens the tables of a file with this layout. Creates missing ones.
    init(
      _ layout: DiskLayout, of environment: Environment, _ meta: Database, _ extents: ExtentLayout?
    ) throws(LMDBError) {
      switch layout {
      case .ordered: self = .records(try RecordTables(environment))
      case .dense: self = .extents(try FileTables(environment, meta: meta, new: extents))
      }
    }

    /// The number of pages at the end of a growing file that have space on the device, but no contents.
    ///
    /// On a full device, only the transactions that make room take these pages. In a file of ordered records, the
    /// smallest of them copies the pages on the paths of a few trees. LMDB does not reuse the pages that the last two
    /// commits freed.
    var sparePages: Int {
      switch self {
      case .records: 8
      case .extents: 0
      }
    }

    /// The index of a file of extents, or nil.
    var index: IndexDatabase? {
      switch self {
      case .records: nil
      case .extents(let tables): tables.index
      }
    }

    /// Whether the position can be one of this layout. Digests of the two layouts have different sizes.
    func hasPosition(_ position: KeyPosition) -> Bool {
      switch self {
      case .records: !position.isDigest || position.recordDigest == nil
      case .extents: position.recordDigest != nil
      }
    }

    /// The arrangement of the records.
    var kind: DiskLayout {
      switch self {
      case .records: .ordered
      case .extents: .dense
      }
    }
  }

  /// The tables of records that are values under their keys. The file must have this layout.
  var recordTables: RecordTables {
    guard case .records(let tables) = layout else { preconditionFailure("the file has its records in extents") }
    return tables
  }
}

/// The tables of a file whose records are values under their keys.
struct RecordTables: Sendable {
  /// The records, by their keys in the file.
  ///
  /// This is LMDB's unnamed table, because each transaction must look up a named one. The names of the other tables
  /// are in it too. They are shorter than any record's key.
  let records: Database
  /// The eviction order: the keys in the file by sequence number, the oldest first.
  let order: IntegerDatabase

  /// Five bytes, like the name of the table of rows. A record's key has at least six, so the two never collide.
  static let orderName = "order"

  init(_ environment: Environment) throws(LMDBError) {
    records = try environment.openDatabase(named: nil)
    order = try environment.openIntegerDatabase(named: Self.orderName)
  }
}
