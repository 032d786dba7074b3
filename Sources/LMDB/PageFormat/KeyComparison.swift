import CLMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Compares two keys in LMDB's default order: by bytes, then by length. LMDB calls this function for each comparison.
///
/// The function compares eight bytes at a time where it can, because calls of `memcmp` are slower. The order is
/// LMDB's own, so the format of the file does not change. LMDB keeps both keys valid during the call.
func compareKeys(_ left: UnsafePointer<MDB_val>?, _ right: UnsafePointer<MDB_val>?) -> Int32 {
  // LMDB never passes nil, nor a key without bytes.
  let left = unsafe left.unsafelyUnwrapped
  let right = unsafe right.unsafelyUnwrapped
  let leftCount = unsafe UInt(bitPattern: left.pointee.mv_size)
  let rightCount = unsafe UInt(bitPattern: right.pointee.mv_size)
  let count = min(leftCount, rightCount)
  let leftBytes = unsafe left.pointee.mv_data.unsafelyUnwrapped
  let rightBytes = unsafe right.pointee.mv_data.unsafelyUnwrapped
  guard count &- 8 <= 8 else {
    return unsafe compareByMemory(leftBytes, Int(bitPattern: leftCount), rightBytes, Int(bitPattern: rightCount))
  }
  // In bounds: both keys have at least eight bytes.
  var leftWord = unsafe leftBytes.loadUnaligned(as: UInt64.self)
  var rightWord = unsafe rightBytes.loadUnaligned(as: UInt64.self)
  if leftWord == rightWord {
    // In bounds: the last eight common bytes. They may overlap the first eight, which are equal.
    let offset = Int(bitPattern: count &- 8)
    leftWord = unsafe leftBytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    rightWord = unsafe rightBytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    if leftWord == rightWord { return leftCount == rightCount ? 0 : leftCount < rightCount ? -1 : 1 }
  }
  return leftWord.bigEndian < rightWord.bigEndian ? -1 : 1
}

/// Compares two keys of any length in the order of `compareKeys`.
@inline(never)
func compareByMemory(
  _ left: UnsafeRawPointer, _ leftCount: Int, _ right: UnsafeRawPointer, _ rightCount: Int
) -> Int32 {
  let difference = unsafe memcmp(left, right, min(leftCount, rightCount))
  if difference != 0 { return difference }
  return leftCount == rightCount ? 0 : leftCount < rightCount ? -1 : 1
}
