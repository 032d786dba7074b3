import CLMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The order of LMDB's own comparison, by bytes and then by length, eight bytes at a time: a look-up compares some fifteen
/// keys, and a call of `memcmp` for each is a tenth of it. Files are the same with either.
///
/// LMDB calls it with two keys, which it keeps meanwhile.
func compareKeys(_ left: UnsafePointer<MDB_val>?, _ right: UnsafePointer<MDB_val>?) -> Int32 {
  // LMDB gives neither nil, nor a key without bytes.
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
  // In bounds: the first eight of eight bytes or more.
  var leftWord = unsafe leftBytes.loadUnaligned(as: UInt64.self)
  var rightWord = unsafe rightBytes.loadUnaligned(as: UInt64.self)
  if leftWord == rightWord {
    // In bounds: the last eight, of which some were equal already.
    let offset = Int(bitPattern: count &- 8)
    leftWord = unsafe leftBytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    rightWord = unsafe rightBytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    if leftWord == rightWord { return leftCount == rightCount ? 0 : leftCount < rightCount ? -1 : 1 }
  }
  return leftWord.bigEndian < rightWord.bigEndian ? -1 : 1
}

/// The order of `compareKeys`, for keys of any length.
@inline(never)
func compareByMemory(
  _ left: UnsafeRawPointer, _ leftCount: Int, _ right: UnsafeRawPointer, _ rightCount: Int
) -> Int32 {
  let difference = unsafe memcmp(left, right, min(leftCount, rightCount))
  if difference != 0 { return difference }
  return leftCount == rightCount ? 0 : leftCount < rightCount ? -1 : 1
}
