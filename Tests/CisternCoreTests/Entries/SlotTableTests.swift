import CisternTesting
import CisternTestSupport
import Synchronization
import Testing

@testable import CisternCore
@testable import Eviction

/// The hash table of entries, compared with a dictionary.
struct SlotTableTests {
  /// The distribution of the keys' fingerprints.
  enum Spread: CaseIterable {
    case even
    case fewValues
    case oneValue
    /// All fingerprints differ, and all start in the last group, so that searches wrap around the end.
    case lastGroup

    func fingerprint(_ key: Int) -> UInt32 {
      switch self {
      case .even: UInt32(truncatingIfNeeded: key &* 0x9E37_79B9)
      case .fewValues: UInt32(truncatingIfNeeded: key % 3) &* 0x5555_5555
      case .oneValue: 42
      case .lastGroup: 0xFFFF_FF00 | UInt32(truncatingIfNeeded: key & 0xFF)
      }
    }
  }

  /// A value that counts its live instances.
  private final class Witness: Sendable {
    let number: Int
    let alive: Population

    init(_ number: Int, _ alive: Population) {
      self.number = number
      self.alive = alive
      alive.count.add(1, ordering: .relaxed)
    }

    deinit { alive.count.subtract(1, ordering: .relaxed) }
  }

  private final class Population: Sendable {
    let count = Atomic<Int>(0)
    var alive: Int { count.load(ordering: .relaxed) }
  }

  private func entry(_ witness: consuming Witness) -> Entry<Witness> {
    .ready(CachedValue(value: witness, timing: .plain(until: .distantFuture), isPersisted: false))
  }

  private func number(_ entry: Entry<Witness>) -> Int? {
    if case .ready(let held) = entry { held.value.number } else { nil }
  }

  @Test func `a key is in its prefetched slot or the adjacent one if its home group has space`() {
    let population = Population()
    var table = SlotTable<Int, Witness>()
    _ = table.rebuild()
    for favourite in UInt32(0)..<8 {
      let fingerprint = favourite << 7
      let first = table.insert(Int(favourite), fingerprint: fingerprint, entry: entry(Witness(0, population)))
      #expect(first.index == Int(favourite))
      let beside = table.insert(Int(favourite) + 8, fingerprint: fingerprint, entry: entry(Witness(1, population)))
      #expect(beside.index == Int(favourite ^ 1))
      for number in [first, beside] { _ = table.remove(number) }
    }
    #expect(table.count == 0 && population.alive == 0)
  }

  @Test(arguments: Spread.allCases)
  func `random operations agree with a dictionary, and removed values are released`(spread: Spread) {
    for seed in 0..<(spread == .even ? 20 : 8) {
      var generator = SeededGenerator(seed: UInt64(seed))
      let population = Population()
      let size = [4, 20, 150, 600][seed % 4]
      do {
        var table = SlotTable<Int, Witness>()
        var model: [Int: (slot: SlotNumber, value: Int)] = [:]
        for step in 0..<2_000 {
          // Growth and shrinking alternate, so that every size occurs with many and with few freed slots.
          let grows = step / 400 % 2 == 0
          let key = generator.next(below: size)
          let fingerprint = spread.fingerprint(key)
          let found = table.find(key, fingerprint: fingerprint)
          if found != model[key]?.slot { Issue.record("\(key) was not found in its slot") }
          if let found {
            if number(table[found].entry) != model[key]?.value || table[node: found].fingerprint != fingerprint {
              Issue.record("\(key) has the value or node of another key")
            }
            if generator.next(below: 4) >= (grows ? 3 : 1) {
              let removed = table.remove(found)
              if removed.key != key { Issue.record("another key was removed instead of \(key)") }
              model[key] = nil
            }
          } else if grows || generator.next(below: 3) == 0 {
            if table.isFull { renumber(&table, &model) }
            let slot = table.insert(key, fingerprint: fingerprint, entry: entry(Witness(step, population)))
            model[key] = (slot, step)
          }
          if table.count != model.count || population.alive != model.count {
            Issue.record("\(table.count) entries and \(population.alive) values, not \(model.count)")
          }
        }
        var visited: [Int] = []
        table.forEach { slot, _, _ in
          let key = table.key(of: slot)
          visited.append(key)
          #expect(model[key]?.slot == slot)
        }
        #expect(visited.sorted() == model.keys.sorted())
      }
      #expect(population.alive == 0)
    }
  }

  private func renumber(
    _ table: inout SlotTable<Int, Witness>, _ model: inout [Int: (slot: SlotNumber, value: Int)]
  ) {
    let numbers = table.rebuild()
    #expect(numbers[.none] == .none)
    model = model.mapValues { (numbers[$0.slot], $0.value) }
  }

  @Test(arguments: Spread.allCases)
  func `a rebuild at any size keeps all entries and updates the links between nodes`(spread: Spread) {
    for size in Array(0...70) + [100, 333, 512] {
      let population = Population()
      do {
        var table = SlotTable<Int, Witness>()
        var list = NodeList(.main)
        for key in 0..<size {
          if table.isFull { list.renumber(table.rebuild()) }
          let fingerprint = spread.fingerprint(key)
          let slot = table.insert(key, fingerprint: fingerprint, entry: entry(Witness(key, population)))
          list.append(slot, in: table.evictionNodes)
        }
        for _ in 0..<2 { list.renumber(table.rebuild()) }
        #expect(population.alive == size)
        #expect(table.count == size)
        var order: [Int] = []
        var next = list.oldest
        while next != .none {
          order.append(table.key(of: next))
          next = table[node: next].newer
        }
        #expect(order == Array(0..<size))
        let lost = (0..<size).filter { table.find($0, fingerprint: spread.fingerprint($0)) == nil }
        #expect(lost == [])
        #expect(table.find(size, fingerprint: spread.fingerprint(size)) == nil)
      }
      #expect(population.alive == 0)
    }
  }

  @Test func `constant churn rebuilds the table and does not make it grow`() {
    var table = SlotTable<Int, Int>()
    for key in 0..<100_000 {
      if table.isFull { _ = table.rebuild() }
      let held = CachedValue(value: key, timing: .plain(until: .distantFuture), isPersisted: false)
      _ = table.insert(key, fingerprint: Spread.even.fingerprint(key), entry: .ready(held))
      if key >= 100, let old = table.find(key - 100, fingerprint: Spread.even.fingerprint(key - 100)) {
        _ = table.remove(old)
      }
    }
    #expect(table.count == 100)
    #expect(table.groupCount * 8 <= 512)
  }

  @Test func `a slot with 64-bit keys and values has 32 bytes, and its node has 16`() {
    #expect(SlotTable<Int, Int>.stride == 32)
    #expect(MemoryLayout<EvictionNode>.stride == 16)
  }

  @Test func `a slot with string keys and 64-bit values fills one cache line`() {
    #expect(SlotTable<String, Int>.stride == 64)
  }

  @Test func `keys of other types are compared by their own equality`() {
    struct Folded: Hashable {
      let text: String
      static func == (left: Folded, right: Folded) -> Bool { left.text.lowercased() == right.text.lowercased() }
      func hash(into hasher: inout Hasher) { hasher.combine(text.lowercased()) }
    }
    var table = SlotTable<Folded, Int>()
    _ = table.rebuild()
    let held = CachedValue(value: 1, timing: .plain(until: .distantFuture), isPersisted: false)
    let number = table.insert(Folded(text: "A"), fingerprint: 7, entry: .ready(held))
    #expect(table.find(Folded(text: "a"), fingerprint: 7) == number)
    #expect(table.find(Folded(text: "b"), fingerprint: 7) == nil)

    var place = [UInt8](repeating: 0, count: 16)
    unsafe place.withUnsafeMutableBytes { memory in
      guard let address = memory.baseAddress else { return }
      let number = unsafe KeyPlace<Int>(address)
      number.initialize(to: 7)
      #expect(number.holds(7) && !number.holds(8))
      let bytes = unsafe KeyPlace<[UInt8]>(address)
      bytes.initialize(to: [7])
      #expect(bytes.holds([7]) && !bytes.holds([7, 0]))
      bytes.deinitialize()
    }
  }

  /// A key whose stride is larger than its size.
  private struct Padded: Hashable {
    let number: SIMD4<Float>
    let mark: UInt8
  }

  @Test func `a key that is smaller than its stride does not overwrite the bytes after it`() {
    #expect(MemoryLayout<Padded>.size == 17 && SlotTable<Padded, Int>.contentOffset == 24)
    var table = SlotTable<Padded, Int>()
    func key(_ number: Int) -> Padded { Padded(number: SIMD4(repeating: Float(number)), mark: 0xFF) }
    for number in 0..<200 {
      if table.isFull { _ = table.rebuild() }
      let held = CachedValue(value: number, timing: .plain(until: .distantFuture), isPersisted: false)
      _ = table.insert(key(number), fingerprint: Spread.even.fingerprint(number), entry: .ready(held))
    }
    for number in 0..<200 {
      let found = table.find(key(number), fingerprint: Spread.even.fingerprint(number))
      #expect(found.flatMap { table[$0].entry.held?.value } == number)
    }
  }

  @Test func `a slot has the alignment of its key and value, and no unnecessary padding`() {
    #expect(SlotTable<UInt8, Int>.contentOffset == 8)
    #expect(SlotTable<SIMD4<Float>, Int>.stride % 16 == 0)
    #expect(SlotTable<SIMD4<Float>, SIMD4<Float>>.contentOffset == 16)
    #expect(SlotTable<UInt8, SIMD4<Float>>.contentOffset == 16)
  }
}

/// Operations on eight control bytes at a time, compared with operations on single bytes.
struct ControlWordTests {
  private func bytes(_ word: UInt64) -> [UInt64] { (0..<8).map { word >> (8 * $0) & 0xFF } }

  private func offsets(_ bits: UInt64) -> [Int] { Array(ControlWord.Offsets(bits: bits)) }

  @Test func `word operations classify bytes like single-byte operations`() {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<1_000 {
      var word = ControlWord.allEmpty
      for offset in 0..<8 {
        let byte: UInt64 =
          switch generator.next(below: 4) {
          case 0: ControlWord.emptyByte
          case 1: ControlWord.freedByte
          case 2: UInt64(generator.next(below: 3))
          default: UInt64(generator.next(below: 128))
          }
        word = ControlWord.setting(byte, at: offset, in: word)
      }
      let all = bytes(word)
      #expect(offsets(ControlWord.empty(word)) == all.indices.filter { all[$0] == ControlWord.emptyByte })
      #expect(offsets(ControlWord.available(word)) == all.indices.filter { all[$0] >= 0x80 })
      #expect(Array(ControlWord.full(word)) == all.indices.filter { all[$0] < 0x80 })
      let fingerprint = UInt32(truncatingIfNeeded: generator.next())
      let matches = Set(offsets(ControlWord.matches(word, ControlWord.pattern(fingerprint))))
      let equal = Set(all.indices.filter { all[$0] == ControlWord.byte(fingerprint) })
      #expect(matches.isSuperset(of: equal))
      // A false match follows another match, and its byte differs in one bit. Its slot is occupied, so the comparison
      // of keys rejects it.
      for extra in matches.subtracting(equal) {
        #expect(all[extra] == ControlWord.byte(fingerprint) ^ 1 && matches.contains(extra - 1))
      }
    }
  }
}
