import CisternTesting
import Testing

@testable import LMDB

/// The search for a digest begins where even distribution expects it, and finds it in any distribution.
@Suite struct SoughtDigestTests {
  /// Returns the result of a search, and the number of examined digests.
  private func search(
    _ digest: UInt64, in digests: [UInt64], from first: Int = 0, low: UInt64 = 0,
    high: UInt64 = IndexItem.greatestDigest
  ) -> (index: Int?, examined: Int) {
    var sought = SoughtDigest(digest)
    (sought.low, sought.high) = (low, high)
    var examined = 0
    let index = sought.firstIndex(in: first..<digests.count, near: sought.guess(in: digests.count)) {
      examined += 1
      return digests[$0]
    }
    return (index, examined)
  }

  @Test func `the first digest that is not less is found in any distribution and between any bounds`() {
    var random = SeededGenerator(seed: 1)
    var faults: [String] = []
    var most = 0
    for round in 0..<3_000 {
      let count = Int.random(in: 0...400, using: &random)
      let greatest = [3, 50, 1_000, 1 << 20, IndexItem.greatestDigest][round % 5]
      let digests = (0..<count).map { _ in UInt64.random(in: 0...greatest, using: &random) }.sorted()
      let digest = UInt64.random(in: 0...greatest, using: &random)
      let bounds = (0..<2).map { _ in UInt64.random(in: 0...greatest, using: &random) }.sorted()
      let first = min(count, round % 2)
      let result = search(digest, in: digests, from: first, low: bounds[0], high: bounds[1])
      let expected = digests[first...].firstIndex { $0 >= digest } ?? count
      if result.index != expected { faults.append("\(digest) in \(digests): \(result)") }
      most = max(most, result.examined)
    }
    #expect(faults == [])
    // Halving 400 digests takes nine steps.
    #expect(most <= 18)
  }

  @Test func `few digests are examined among evenly distributed ones`() {
    var random = SeededGenerator(seed: 2)
    var examined = 0
    for _ in 0..<1_000 {
      let digests = (0..<300).map { _ in UInt64.random(in: 0...IndexItem.greatestDigest, using: &random) }.sorted()
      examined += search(UInt64.random(in: 0...IndexItem.greatestDigest, using: &random), in: digests).examined
    }
    // Halving takes more than eight steps.
    #expect(examined < 7_000)
  }

  @Test func `a digest that is not readable ends the search`() {
    let sought = SoughtDigest(7)
    #expect(sought.firstIndex(in: 0..<10, near: 3) { $0 == 3 ? nil : UInt64($0) } == nil)
  }
}
