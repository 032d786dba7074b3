/// Values without references, one after another, with one owner.
///
/// Appending to an array costs several times as much, because an array checks whether its storage is shared.
@safe
@usableFromInline
struct FlatStorage<Element>: ~Copyable {
  // Allocated with this capacity, or nil. The first `count` elements are initialized. The storage is freed in `deinit`,
  // and no view outlives a change.
  @usableFromInline var start: UnsafeMutablePointer<Element>?
  @usableFromInline var capacity = 0
  @usableFromInline var count = 0

  @usableFromInline
  init() {
    unsafe start = nil
  }

  @inlinable
  deinit {
    unsafe start?.deinitialize(count: count)
    unsafe start?.deallocate()
  }

  /// Returns an element. Traps if the index is out of bounds.
  @inlinable
  subscript(index: Int) -> Element {
    @inline(__always)
    get {
      precondition(index >= 0 && index < count)
      // The storage exists, because it has an element.
      return unsafe start.unsafelyUnwrapped[index]
    }
  }

  @inlinable
  @inline(__always)
  mutating func append(_ element: Element) {
    if count == capacity { makeRoom(for: 1) }
    // In bounds: there is room for one more element.
    unsafe (start.unsafelyUnwrapped + count).initialize(to: element)
    count &+= 1
  }

  /// Makes room for so many more elements.
  @usableFromInline
  @inline(never)
  mutating func makeRoom(for added: Int) {
    let needed = count + added
    guard needed > capacity else { return }
    capacity = max(2 * capacity, needed)
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
    if let start = unsafe start {
      unsafe larger.moveInitialize(from: start, count: count)
      unsafe start.deallocate()
    }
    unsafe start = unsafe larger
  }

  mutating func removeAll() {
    unsafe start?.deinitialize(count: count)
    count = 0
  }
}

extension FlatStorage where Element == UInt8 {
  /// Appends bytes.
  @inlinable
  @inline(__always)
  mutating func append(_ span: RawSpan) {
    let size = span.byteCount
    if size > capacity &- count { makeRoom(for: size) }
    guard size > 0 else { return }
    // In bounds: there is room for the span, which is not empty.
    unsafe span.withUnsafeBytes { source in
      let target = unsafe UnsafeMutableRawPointer(start.unsafelyUnwrapped + count)
      let source = unsafe source.baseAddress.unsafelyUnwrapped
      if size >= 8, size <= 16 {
        // Two words, which overlap unless there are 16 bytes. Faster than a call for a few bytes.
        let last = unsafe source.loadUnaligned(fromByteOffset: size &- 8, as: UInt64.self)
        unsafe target.storeBytes(of: source.loadUnaligned(as: UInt64.self), as: UInt64.self)
        unsafe target.storeBytes(of: last, toByteOffset: size &- 8, as: UInt64.self)
      } else {
        unsafe target.copyMemory(from: source, byteCount: size)
      }
    }
    count &+= size
  }

  /// The bytes.
  @inlinable
  var rawSpan: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      let span = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count))
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }
}
