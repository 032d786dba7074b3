import CisternTesting
import Testing

@testable import CisternCore
@testable import Eviction

/// The table remembers a dropped key until as much cost again was dropped.
struct GhostTableTests {
  private func fingerprint(_ number: Int) -> UInt32 {
    var generator = SeededGenerator(seed: UInt64(number))
    return UInt32(truncatingIfNeeded: generator.next())
  }

  @Test(arguments: [1, 700, 3_000_000_000] as [UInt32])
  func `the table remembers nearly all of the last drops, and no older ones`(cost: UInt32) {
    var ghost = GhostTable()
    let capacity = 1_000
    for number in 0..<20_000 {
      ghost.insert(fingerprint(number), cost: cost, capacity: capacity * Int(cost))
    }
    // The edge is not exact, because the stored times are rounded.
    let old = (18_900..<18_980).count { ghost.remove(fingerprint($0)) }
    #expect(old == 0)
    let remembered = (19_020..<20_000).count { ghost.remove(fingerprint($0)) }
    #expect(remembered > 980 * 97 / 100)
    let again = (19_020..<20_000).count { ghost.remove(fingerprint($0)) }
    #expect(again == 0)
  }

  @Test func `a key that was never dropped is not remembered`() {
    var ghost = GhostTable()
    for number in 0..<5_000 { ghost.insert(fingerprint(number), cost: 1, capacity: 5_000) }
    let invented = (10_000..<30_000).count { ghost.remove(fingerprint($0)) }
    #expect(invented <= 1)
  }

  @Test func `a smaller capacity shortens the memory of drops immediately`() {
    var ghost = GhostTable()
    for number in 0..<100 { ghost.insert(fingerprint(number), cost: 10, capacity: 10_000) }
    ghost.insert(fingerprint(100), cost: 10, capacity: 50)
    let isOldThere = ghost.remove(fingerprint(50))
    let isNewThere = ghost.remove(fingerprint(99))
    #expect(!isOldThere && isNewThere)
  }
}
