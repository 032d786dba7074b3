import CisternTestSupport
import LMDB
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The mark, which tells a later opening whether it may use the data file without a check.
@Suite struct BootMarkTests {
  @Test func `a mark is reusable only if it is sound and matches the limit and the file's fingerprint`() {
    let stamp = DataFileFingerprint(node: 1, size: 2, modified: 3, changed: 4)
    let changed = DataFileFingerprint(node: 1, size: 2, modified: 3, changed: 5)
    let file = MarkedFile(fingerprint: stamp)
    let mark = BootMark(state: .sound, boot: "an earlier run", limit: 6, file: file)
    #expect(mark.isValid(for: stamp, limit: 6))
    #expect(!mark.isValid(for: changed, limit: 6))
    #expect(!mark.isValid(for: nil, limit: 6))
    #expect(!mark.isValid(for: stamp, limit: 7))
    #expect(!BootMark(state: .sound, boot: "", limit: 6).isValid(for: nil, limit: 6))
    #expect(!BootMark(state: .unsynchronized, boot: "", limit: 6, file: file).isValid(for: stamp, limit: 6))
    #expect(!BootMark(state: .unreadable, boot: "", limit: 6, file: file).isValid(for: stamp, limit: 6))
  }

  @Test func `opening a store with another durability or limit updates its mark`()
    async throws
  {
    let scratch = TemporaryDirectory()
    try await fill(scratch, count: 10, durability: .powerCut)
    for (durability, limit) in [
      (Durability.powerCut, 16), (.processCrash, 16), (.powerCut, 16), (.powerCut, 17), (.processCrash, 17),
    ] {
      let tier = try openTier(scratch, limit: .mebibytes(limit), durability: durability)
      let mark = try #require(try tier.engine.claim.readMark())
      #expect(mark.state == (durability == .powerCut ? .sound : .unsynchronized))
      #expect(mark.limit == limit << 20)
      try await tier.close()
    }
  }

  @Test func `an encoded mark has a constant size and decodes with the same fingerprint or none`() {
    let stamp = DataFileFingerprint(node: .max >> 16, size: 1 << 46, modified: .max >> 1, changed: 0)
    for (stamp, identity) in [(stamp, StoreIdentity()), (nil, nil)] as [(DataFileFingerprint?, StoreIdentity?)] {
      let mark = BootMark(
        state: .unsynchronized, boot: String(repeating: "b", count: 64), limit: .max,
        file: MarkedFile(
          identity: identity, fingerprint: stamp,
          history: identity.map { _ in DataFileHistory(transaction: .max, previousState: .max) }))
      #expect(mark.bytes.count == BootMark.size)
      #expect(BootMark(mark.bytes[...]) == mark)
    }
  }
}
