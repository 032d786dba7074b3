import Testing

@testable import CisternCore

/// The event of an eviction from memory.
struct EvictionEventTests {
  @Test func `an eviction is announced if it ends the value`() {
    func event(_ residency: Residency, isTierClosed: Bool, isExpired: Bool = false) -> WriteEvent? {
      WriteEvent.ofEviction(from: residency, isTierClosed: isTierClosed, isExpired: isExpired)
    }
    for isClosed in [false, true] {
      #expect(event(.memoryOnly, isTierClosed: isClosed) == .removed(.evicted))
      #expect(event(.memoryOnly, isTierClosed: isClosed, isExpired: true) == .removed(.expired))
    }
    #expect(event(.bothTiers, isTierClosed: true) == .removed(.evicted))
    #expect(event(.bothTiers, isTierClosed: false) == nil)
    #expect(event(.bothTiers, isTierClosed: false, isExpired: true) == nil)
  }
}
