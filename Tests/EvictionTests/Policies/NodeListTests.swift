import CisternTesting
import Testing

@testable import CisternCore
@testable import Eviction

/// A queue that is linked through its nodes, compared with an array.
struct NodeListTests {
  @Test func `random operations agree with an array`() {
    for seed in 0..<20 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      var table = SlotTable<Int, Int>()
      var slots: [SlotNumber] = []
      for key in 0..<40 {
        if table.isFull {
          let numbers = table.rebuild()
          slots = slots.map { numbers[$0] }
        }
        let held = CachedValue(value: key, timing: .plain(until: .distantFuture), isPersisted: false)
        slots.append(table.insert(key, fingerprint: UInt32(key) << 20, entry: .ready(held)))
        table[node: slots[key]].cost = UInt32(key)
      }
      var list = NodeList(.small)
      var model: [Int] = []
      for _ in 0..<1_000 {
        let key = generator.next(below: 40)
        if let place = model.firstIndex(of: key) {
          model.remove(at: place)
          if generator.next(below: 2) == 0 {
            list.moveToNewest(slots[key], in: table.evictionNodes)
            model.append(key)
          } else {
            list.remove(slots[key], in: table.evictionNodes)
          }
        } else {
          list.append(slots[key], in: table.evictionNodes)
          model.append(key)
        }
        let isLinked = table[slots[key]].use.queue == .small
        guard list.count == model.count, list.cost == model.reduce(0, +), isLinked == model.contains(key),
          list.oldest == model.first.map({ slots[$0] }) ?? .none, list.newest == model.last.map({ slots[$0] }) ?? .none
        else {
          Issue.record("seed \(seed): the list differs from \(model)")
          return
        }
      }
      var forward: [Int] = []
      var next = list.oldest
      while next != .none {
        forward.append(table.key(of: next))
        next = table[node: next].newer
      }
      var backward: [Int] = []
      next = list.newest
      while next != .none {
        backward.append(table.key(of: next))
        next = table[node: next].older
      }
      #expect(forward == model && backward == model.reversed())
    }
  }
}
