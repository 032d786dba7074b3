/// Checks that the nodes of a page fill it to its end, without gaps or overlaps.
///
/// LMDB moves nodes by their sizes. If the sizes are wrong, it writes outside the page.
struct PageTiling {
  /// One bit for every two bytes of a page, set if a node begins there.
  private var starts: [UInt64]

  init(pageSize: Int) {
    starts = Array(repeating: 0, count: (pageSize / 2 + 63) / 64)
  }

  /// Throws if the nodes leave a gap or overlap. Otherwise, every node is completely within the page.
  mutating func require(_ page: borrowing TreePage) throws(DataFileDamage) {
    let end = page.bytes.byteCount
    for index in starts.indices { starts[index] = 0 }
    for index in 0..<page.count {
      let place = page.place(index)
      guard place & 1 == 0, place >= page.upper, place <= end - TreeNode.headerSize else {
        throw DataFileDamage(page: page.number, "its node \(index) is at the invalid offset \(place)")
      }
      let bit: UInt64 = 1 << UInt64(place / 2 & 63)
      guard starts[place / 128] & bit == 0 else {
        throw DataFileDamage(page: page.number, "two of its nodes are at the offset \(place)")
      }
      starts[place / 128] |= bit
    }
    var place = page.upper
    var count = 0
    while place < end {
      guard starts[place / 128] & (1 << UInt64(place / 2 & 63)) != 0, place & 1 == 0 else { break }
      place += TreeNode(page.bytes, at: place).size(in: page.kind)
      count += 1
    }
    guard place == end, count == page.count else {
      throw DataFileDamage(page: page.number, "its nodes do not fill it from the offset \(page.upper) to its end")
    }
  }
}
