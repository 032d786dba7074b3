import CSupport

/// Returns whether the representations of two strings are the same two words.
///
/// The words are the same if both strings contain the same few bytes, or if they share storage. A result of false
/// does not mean that the strings differ.
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

/// Returns whether two strings are equal, as their `==` defines it.
///
/// The function compares the bytes first. Usually the two strings have the same bytes, and the comparison avoids
/// several calls in the standard library.
// This attribute tells the caller that the function only reads. Otherwise, the caller would count a reference to the
// stored string.
@_effects(readonly)
@inline(never)
@usableFromInline
func areEqualStrings(_ left: String, _ right: String) -> Bool {
  // Both buffers are used only during the call.
  let haveSameBytes = unsafe right.utf8.withContiguousStorageIfAvailable { right in
    unsafe left.utf8.withContiguousStorageIfAvailable { left in
      unsafe left.count == right.count && cistern_are_equal(left.baseAddress, right.baseAddress, left.count)
    }
  }
  // Different bytes may be canonically equivalent.
  return haveSameBytes == true || left == right
}
