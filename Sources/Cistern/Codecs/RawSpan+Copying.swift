extension RawSpan {
  /// The bytes, in an array of their own.
  @inlinable
  package func copiedBytes() -> [UInt8] {
    // Not `Array` of the buffer: where the optimiser sees that the copy is not used, it frees that before it is written.
    let count = byteCount
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { copy, copied in
      // In bounds: there is room for as many.
      unsafe withUnsafeBytes { unsafe UnsafeMutableRawBufferPointer(copy).copyMemory(from: $0) }
      copied = count
    }
  }
}

extension [UInt8] {
  /// A view of the bytes.
  @inlinable
  package var rawSpan: RawSpan {
    @_lifetime(borrow self)
    borrowing get { unsafe span.bytes }
  }
}
