import CisternDisk
import CisternTestSupport
import Testing

@testable import Cistern
@testable import CisternCore

/// The shared states of the stores that this process has open.
@Suite struct StoreRegistryTests {
  private final class State {}

  private func open(_ path: String) throws -> Store {
    try Store(directory: path, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(16))
  }

  private func engineIdentity(of store: Store) throws -> ObjectIdentifier {
    let tier = try #require(store.shared.secondTier as? DiskTier)
    return tier.engineIdentity
  }

  /// Leaves bytes on the stack that are no valid reference. Unused parts of a stack are zero, which hides reads of
  /// them.
  @inline(never)
  private func fillStack() {
    unsafe withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 4096) { unsafe $0.initialize(repeating: 0x2_8282) }
  }

  /// The last owner of a closed store can release it after a later store of the engine was opened or released.
  @Test func `an open state stays if a state that is not registered is forgotten`() async throws {
    let scratch = TemporaryDirectory()
    let one = try open(scratch.store)
    let engine = try engineIdentity(of: one)
    let (otherState, otherEngine) = (State(), State())
    for _ in 0..<20 {
      fillStack()
      StoreRegistry.shared.forget(ObjectIdentifier(otherState), of: ObjectIdentifier(otherEngine))
      StoreRegistry.shared.forget(ObjectIdentifier(one.shared), of: ObjectIdentifier(otherEngine))
      StoreRegistry.shared.forget(ObjectIdentifier(otherState), of: engine)
    }
    withExtendedLifetime((otherState, otherEngine)) {}
    let two = try open(scratch.store)
    #expect(two.shared === one.shared)
    try await one.close()
    try await two.close()
  }

  @Test func `later stores share a new state after the former one is forgotten, also if it is forgotten again`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let one = try open(scratch.store)
    let engine = try engineIdentity(of: one)
    StoreRegistry.shared.forget(ObjectIdentifier(one.shared), of: engine)
    let two = try open(scratch.store)
    #expect(two.shared !== one.shared)
    #expect(try engineIdentity(of: two) == engine)
    StoreRegistry.shared.forget(ObjectIdentifier(one.shared), of: engine)
    let three = try open(scratch.store)
    #expect(three.shared === two.shared)
    for store in [one, two, three] { try await store.close() }
  }
}
