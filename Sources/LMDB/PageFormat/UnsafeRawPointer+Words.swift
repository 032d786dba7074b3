extension UnsafeRawPointer {
  // These load a number at any alignment. The caller ensures that its bytes are within the page.
  @inline(__always)
  func word16(at offset: Int) -> UInt16 { unsafe loadUnaligned(fromByteOffset: offset, as: UInt16.self) }
  @inline(__always)
  func word32(at offset: Int) -> UInt32 { unsafe loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
  @inline(__always)
  func word64(at offset: Int) -> UInt64 { unsafe loadUnaligned(fromByteOffset: offset, as: UInt64.self) }

  /// The length of the key, for a pointer to a node.
  @inline(__always)
  var keySize: Int { unsafe Int(word16(at: TreeNode.keySizePlace)) }
  /// The number of the child page, for a pointer to a node of a branch.
  @inline(__always)
  var child: UInt64 { unsafe UInt64(word32(at: 0)) | UInt64(word16(at: TreeNode.flagsPlace)) &<< 32 }
}
