import Testing

@testable import CisternCore
@testable import CisternDisk

/// The count of leaves that bounds a transaction.
struct TouchedLeavesTests {
  private func digest(_ share: Double) -> RecordDigest {
    RecordDigest(lowBits: UInt64(share * Double(1 << UInt64(RecordDigest.bitCount))))
  }

  @Test(arguments: [1, 10, 1500, 70_000, 1 << 22])
  func `digests are counted by their leaves`(pages: Int) {
    var leaves = TouchedLeaves(indexPages: pages)
    for leaf in 0..<min(pages, 3000) {
      // The first and the last digests of a leaf.
      for place in [0.1, 0.9] { leaves.note(digest((Double(leaf) + place) / Double(pages)), of: .first) }
    }
    #expect(leaves.total == min(pages, 3000))
    leaves.note(RecordDigest(lowBits: .max), of: .first)
    #expect(leaves.total == min(pages, 3001))
    leaves.note(.zero, of: Generation.first.next())
    #expect(leaves.total == min(pages, 3001) + 1)
  }

  @Test func `an empty index counts as one leaf`() {
    var leaves = TouchedLeaves(indexPages: 0)
    #expect(leaves.total == 0)
    for share in [0.0, 0.5, 0.9] { leaves.note(digest(share), of: .first) }
    #expect(leaves.total == 1)
  }
}
