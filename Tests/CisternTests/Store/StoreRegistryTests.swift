import Testing

@testable import Cistern

/// The shared states of the stores that this process has open.
@Suite struct StoreRegistryTests {
  private final class State {}

  /// Leaves bytes on the stack that are no valid reference. Unused parts of a stack are zero, which hides reads of them.
  @inline(never)
  private func fillStack() {
    unsafe withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 4096) { unsafe $0.initialize(repeating: 0x2_8282) }
  }

  /// The last owner of a closed store can release it after a later store of the engine was released.
  @Test func `a state that is not registered is forgotten without an effect`() {
    let (state, engine) = (State(), State())
    for _ in 0..<20 {
      fillStack()
      StoreRegistry.shared.forget(ObjectIdentifier(state), of: ObjectIdentifier(engine))
    }
    withExtendedLifetime((state, engine)) {}
  }
}
