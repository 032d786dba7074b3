import CisternCore
import LMDB

extension DiskFile {
  /// The tables with the records of a file.
  enum Layout: Sendable {
    case ordered(OrderedTables)
    case dense(DenseTables)

    /// Opens the tables of a file with this layout. Creates missing ones.
    init(
      _ layout: DiskLayout, of environment: Environment, _ meta: Database, _ extents: ExtentLayout?
    ) throws(LMDBError) {
      switch layout {
      case .ordered: self = .ordered(try OrderedTables(environment))
      case .dense: self = .dense(try DenseTables(environment, meta: meta, new: extents))
      }
    }

    /// The number of pages at the end of a growing file that have space on the device, but no contents.
    ///
    /// On a full device, only the transactions that make room take these pages. In an ordered file, the
    /// smallest of them copies the pages on the paths of a few trees. LMDB does not reuse the pages that the last two
    /// commits freed.
    var sparePages: Int {
      switch self {
      case .ordered: 8
      case .dense: 0
      }
    }

    /// The index of a dense file, or nil.
    var index: IndexDatabase? {
      switch self {
      case .ordered: nil
      case .dense(let tables): tables.index
      }
    }

    /// Whether the position can be one of this layout. Digests of the two layouts have different sizes.
    func hasPosition(_ position: KeyPosition) -> Bool {
      switch self {
      case .ordered: !position.isDigest || position.recordDigest == nil
      case .dense: position.recordDigest != nil
      }
    }

    /// The arrangement of the records.
    var kind: DiskLayout {
      switch self {
      case .ordered: .ordered
      case .dense: .dense
      }
    }
  }

  /// The tables of records that are values under their keys. The file must have this layout.
  var orderedTables: OrderedTables {
    guard case .ordered(let tables) = layout else { preconditionFailure("the file is dense") }
    return tables
  }
}
