/// The size of a table to which entries are appended in order, by LMDB's rules.
struct AppendedTableSize {
  private static let pageHeader = 16
  private static let nodeHeader = 8
  private static let room = DiskLimits.pageSize - pageHeader
  /// The maximum size of an entry in a leaf. A larger entry has separate pages, and the leaf has their number.
  private static let largestNode = (room / 2 & ~1) - 2

  private var leaves = 0
  private var branchBytes = 0
  private var used = AppendedTableSize.room
  var overflowPages = 0

  /// Returns the number of bytes that a record needs in a leaf.
  static func leafBytes(key: Int, size: Int) -> Int {
    let whole = nodeHeader + key + size
    return even(whole > largestNode ? nodeHeader + key + 8 : whole) + 2
  }

  /// Returns the number of pages that a record needs outside the leaf.
  static func overflowPages(key: Int, size: Int) -> Int {
    nodeHeader + key + size > largestNode ? (pageHeader + size + DiskLimits.pageSize - 1) / DiskLimits.pageSize : 0
  }

  /// Returns the number of bytes that a record needs with its entry in the eviction order.
  static func bytes(key: Int, size: Int) -> Int {
    leafBytes(key: key, size: size) + overflowPages(key: key, size: size) * DiskLimits.pageSize + orderBytes(key: key)
  }

  /// Returns the number of bytes that the key's entry in the eviction order needs.
  static func orderBytes(key: Int) -> Int { even(nodeHeader + 8 + key) + 2 }

  private static func even(_ count: Int) -> Int { (count + 1) & ~1 }

  mutating func append(_ bytes: Int, key: Int) {
    if used + bytes > AppendedTableSize.room {
      leaves += 1
      used = 0
      branchBytes += AppendedTableSize.even(AppendedTableSize.nodeHeader + key) + 2
    }
    used += bytes
  }

  /// The number of pages. The last branch page of each level counts as a whole page.
  var pages: Int { leaves + overflowPages + (leaves > 1 ? branchBytes * 65 / 64 / AppendedTableSize.room + 3 : 0) }
}
