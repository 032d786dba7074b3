import CisternTesting
import Testing

@testable import CisternCore
@testable import Eviction

/// The candidates with the lowest densities, and the table of evicted entries.
struct EvictionCandidatesTests {
  @Test func `the candidates with the lowest densities are kept, in agreement with sorting`() {
    for seed in 0..<50 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      var candidates = EvictionCandidates()
      var expected: [(number: Int, density: Int)] = []
      for number in 0..<60 {
        let density = generator.next(below: 10_000) * 100 + number
        let left = candidates.offer(SlotNumber(UInt32(number)), density: Float(density))
        expected.append((number, density))
        expected.sort { $0.density < $1.density }
        if expected.count > EvictionCandidates.capacity {
          #expect(left == SlotNumber(UInt32(expected.removeLast().number)))
        } else {
          #expect(left == .none)
        }
        if generator.next(below: 8) == 0 {
          let removed = expected.remove(at: generator.next(below: expected.count))
          candidates.remove(SlotNumber(UInt32(removed.number)))
        }
        #expect(candidates.count == expected.count)
      }
      while !expected.isEmpty {
        let least = candidates.least(keeping: .none)
        #expect(least?.number == SlotNumber(UInt32(expected[0].number)))
        #expect(candidates.lowest == Float(expected[0].density))
        let spared = candidates.least(keeping: SlotNumber(UInt32(expected[0].number)))
        #expect(spared?.number == (expected.count > 1 ? SlotNumber(UInt32(expected[1].number)) : nil))
        candidates.remove(SlotNumber(UInt32(expected.removeFirst().number)))
      }
      #expect(candidates.least(keeping: .none) == nil)
      #expect(candidates.lowest == .infinity)
    }
  }

  @Test(arguments: [200, 5_000])
  func `the table keeps the newest evictions, each once, about as many as there are entries`(entryCount: Int) {
    var ghosts = GhostHistoryTable()
    var ended = 0
    func fingerprint(_ number: Int) -> UInt32 {
      var generator = SeededGenerator(seed: UInt64(number))
      return UInt32(truncatingIfNeeded: generator.next())
    }
    for number in 0..<20_000 {
      let entry = GhostHistoryTable.EvictedEntry(
        fingerprint: fingerprint(number), uses: UInt8(number % 250 + 1), lastUse: UInt32(number))
      ghosts.insert(entry, at: UInt32(number), recordCount: entryCount) { _ in ended += 1 }
    }
    let now: UInt32 = 20_000
    let remembered = (0..<20_000).compactMap { number -> Int? in
      guard let memory = ghosts.memory(of: fingerprint(number), at: now) else { return nil }
      #expect(memory.uses == UInt8(number % 250 + 1))
      #expect(memory.age == now - UInt32(number))
      return number
    }
    #expect((entryCount * 9 / 10...entryCount + 8).contains(remembered.count), "\(remembered.count)")
    #expect(remembered.count + ended == 20_000)
    #expect(remembered.count { $0 >= 20_000 - entryCount / 2 } > entryCount * 45 / 100)
    for number in remembered {
      let isThere = ghosts.remove(fingerprint(number), at: now) != nil
      let isThereStill = ghosts.memory(of: fingerprint(number), at: now) != nil
      #expect(isThere && !isThereStill)
    }
  }
}
