import CMemoryHints

/// Whether two strings consist of the same words: the same bytes, where these are few enough to be in there, or the same
/// storage. Says nothing of the others.
@inlinable
@inline(__always)
func haveSameWords(_ left: String, _ right: String) -> Bool {
  #if arch(x86_64) || arch(arm64)
    let left = unsafe unsafeBitCast(left, to: (UInt64, UInt64).self)
    let right = unsafe unsafeBitCast(right, to: (UInt64, UInt64).self)
    return left == right
  #else
    return false
  #endif
}

/// Whether two strings are equal, as their `==` says. Bytes are compared first, without the four calls that lead the standard
/// library there: what is looked up has, as a rule, the bytes of what is stored.
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
