import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The first pages of the values of a database, by their keys.
///
/// A value may be removed, but its key must then never be used again. Each key has one slot, which it shares with
/// others. A key without its slot is looked up.
@safe
final class PlaceTable: Sendable {
  /// A key and the first page of its value. The word of an empty slot is zero: no value begins at the first page.
  private typealias Slot = Atomic<UInt64>

  /// The number of bits of a page number in a slot.
  private static let pageBits: UInt64 = 35
  /// The number of keys that can have a slot. Greater keys are looked up.
  static let keyLimit: UInt = 1 << 29

  let byteCount: Int
  let database: IntegerDatabase
  /// The address of the environment, for comparisons only.
  nonisolated(unsafe) let environment: UnsafeMutableRawPointer
  // Allocated once and unmapped by `deinit`. Every access is atomic. Without memory, all values are looked up.
  private nonisolated(unsafe) let slots: UnsafeMutablePointer<Slot>?
  private let mask: UInt

  init(of database: IntegerDatabase, _ environment: Environment, byteCount: Int, capacity: Int) {
    self.database = database
    self.byteCount = byteCount
    unsafe self.environment = unsafe Unmanaged.passUnretained(environment).toOpaque()
    var count = 64
    while count < min(capacity, 1 << 20) { count *= 2 }
    mask = UInt(count - 1)
    // Zero bytes are a valid `Atomic(0)`, and an `Atomic` needs no deinitialization.
    let size = count * MemoryLayout<Slot>.stride
    let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    unsafe slots = unsafe memory == MAP_FAILED ? nil : unsafe memory?.bindMemory(to: Slot.self, capacity: count)
  }

  deinit {
    if let slots = unsafe slots { unsafe munmap(slots, Int(mask + 1) * MemoryLayout<Slot>.stride) }
  }

  /// Returns the first page of the key's value, or zero if the table does not have it.
  @inline(__always)
  func page(of key: UInt) -> UInt64 {
    guard let slots = unsafe slots else { return 0 }
    // The mask keeps the index in bounds.
    let slot = unsafe slots[Int(bitPattern: key & mask)].load(ordering: .relaxed)
    return slot &>> Self.pageBits == UInt64(key) ? slot & (1 &<< Self.pageBits &- 1) : 0
  }

  func note(_ page: UInt64, of key: UInt) {
    guard let slots = unsafe slots, key < Self.keyLimit, page < 1 << Self.pageBits else { return }
    // The mask keeps the index in bounds. The page never changes, so a reader needs no order.
    unsafe slots[Int(bitPattern: key & mask)].store(UInt64(key) << Self.pageBits | page, ordering: .relaxed)
  }
}
