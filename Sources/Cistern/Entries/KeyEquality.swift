import CMemoryHints

/// Whether two keys are equal, as their type's `==` says. Of strings the bytes are compared first, without the four calls
/// that lead the standard library there: what is looked up has, as a rule, the bytes of what is stored.
@inlinable
@inline(__always)
func areEqualKeys<Key: Hashable>(_ left: Key, _ right: Key) -> Bool {
  if Key.self == String.self {
    // The casts are of values to the type that they have.
    return areEqualStrings(unsafe unsafeBitCast(left, to: String.self), unsafe unsafeBitCast(right, to: String.self))
  }
  return left == right
}

// Reads only: without that being said the caller counts a reference to what is stored.
@_effects(readonly)
@inline(never)
@usableFromInline
func areEqualStrings(_ left: String, _ right: String) -> Bool {
  // Both views end with the call.
  let haveSameBytes = unsafe right.utf8.withContiguousStorageIfAvailable { right in
    unsafe left.utf8.withContiguousStorageIfAvailable { left in
      unsafe left.count == right.count && cistern_are_equal(left.baseAddress, right.baseAddress, left.count)
    }
  }
  // Other bytes may be another spelling of the same.
  return haveSameBytes == true || left == right
}
