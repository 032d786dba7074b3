import CisternTesting
import Testing

@testable import CisternCore

struct EntryCandidatesTests {
  private typealias Candidates = EntryCandidates<Int>

  private func candidate(_ number: Int) -> Candidates.Candidate {
    let bytes = [UInt8(number >> 8), UInt8(number & 255)]
    // Two keys share a position, as keys with one digest do.
    return Candidates.Candidate(
      position: KeyPosition(isDigest: true, bytes: [bytes[0], bytes[1] / 2]), bytes: bytes, key: number)
  }

  @Test(arguments: [0, 100, 20_000])
  func `candidates are visited in order and once, also those that are added between visits`(count: Int) {
    var random = SeededGenerator(seed: UInt64(count))
    var expected = Set((0..<count).map { _ in random.next(below: 60_000) })
    var candidates = Candidates(expected.map(candidate))
    var last = -1
    for round in 0..<200 {
      // Those behind the last visited one only, as an enumeration adds them.
      let added = Set((0..<random.next(below: 40)).map { _ in random.next(below: 60_000) }.filter { $0 > last })
      candidates.add(added.map(candidate))
      expected.formUnion(added)
      for _ in 0..<random.next(below: round % 10 == 0 ? 200 : 20) {
        let next = expected.min()
        #expect(candidates.next?.key == next && candidates.popNext()?.key == next)
        guard let next else { break }
        expected.remove(next)
        last = next
      }
    }
    while let next = candidates.popNext() {
      #expect(next.key > last && expected.remove(next.key) != nil)
      last = next.key
    }
    #expect(expected.isEmpty && candidates.next == nil)
  }
}
