import Cistern
import CisternDisk

/// Feeds arbitrary bytes to the keys of the file. They do not trap, a built key reads back unchanged, and generations
/// are adjacent.
func fuzzDiskKeys(_ input: [UInt8]) {
  if let key = DiskKey(input.rawSpan) {
    require(key.copiedBytes() == input, "the key's bytes changed")
    require(key.generation == DiskKey.generation(of: input.rawSpan), "two generations of one key")
    require(key.isDigest || key.directKey == Array(input.dropFirst(DiskKey.prefixSize)), "the user's key changed")
  } else {
    require(
      input.count < DiskKey.prefixSize || input.count > DiskKey.prefixSize + DiskKey.longestDirectKey
        || DiskKey.isDigest(input.rawSpan), "bytes of a right length are no key")
  }
  var source = ByteSource(input)
  let generation = Generation(number: source.number(UInt64.self) % (DiskKey.generationLimit.number - 1))
  let one = source.bytes()
  let other = source.bytes()
  let (first, second) = (built(generation, one), built(generation, other))
  require((one == other) == (first == second), "different keys in one place, or equal ones in two")
  for key in [first, second] {
    require(!key.lexicographicallyPrecedes(DiskKey(startOf: generation).copiedBytes()), "before its generation")
    require(key.lexicographicallyPrecedes(DiskKey(startOf: generation.next()).copiedBytes()), "after its generation")
  }
  require(built(generation.next(), one) != first, "keys of two generations in one place")
}

private func built(_ generation: Generation, _ key: [UInt8]) -> [UInt8] {
  let built = DiskKey(generation: generation, key: key.rawSpan)
  require(built.generation == generation, "another generation")
  require(built.isDigest == (key.count > DiskKey.longestDirectKey), "a digest of a short key, or none of a long one")
  require(built.isDigest || built.directKey == key, "another key")
  let bytes = built.copiedBytes()
  guard let read = DiskKey(bytes.rawSpan) else { fatalError("broken: a built key is not readable") }
  require(read.copiedBytes() == bytes && read.isDigest == built.isDigest, "read, it is another key")
  return bytes
}
