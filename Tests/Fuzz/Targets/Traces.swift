import CZlib

import InputFormats

/// Feeds arbitrary bytes to the trace reader, packed or not. It reads them or reports the wrong line, and numbers
/// keys in the order of their appearance.
func fuzzTraces(_ input: [UInt8]) {
  var reader = TraceReader(bytes: input, name: "trace")
  var greatest = -1
  do {
    while let request = try reader.next() {
      require(request.key <= greatest + 1 && request.key >= 0, "key \(request.key) after \(greatest)")
      greatest = max(greatest, request.key)
      if let size = request.size { require(size >= 0, "a size of \(size)") }
    }
    require(greatest >= 0, "a trace without requests ends without an error")
  } catch let error as TraceError {
    require(!error.message.isEmpty, "no message")
  } catch {
    fatalError("broken: not a TraceError: \(error)")
  }
  // The key of a line with a wrong size already has its number.
  require((0...1).contains(reader.keys.count - greatest - 1), "\(reader.keys.count) keys, the greatest \(greatest)")
  require(Set(reader.keys).count == reader.keys.count, "a key has two numbers")
}

/// Packs bytes with zlib in one member or several, and unpacks them. Bytes that only begin like a gzip file do no
/// harm.
func fuzzGzip(_ input: [UInt8]) {
  if let unpacked = unpack([0x1F, 0x8B, 8, 0] + input) {
    require(unpacked.count <= 8 << 20, "more than the requested size")
  }
  let half = Int(input.first ?? 0) * input.count / 255
  let packed = packed(Array(input.prefix(half))) + packed(Array(input.dropFirst(half)))
  require(unpack(packed) == input, "unpacked bytes differ from the packed ones")
  // A file that is cut off is refused, except between its members.
  let cut = packed.dropLast(1 + half % 8)
  require(unpack(Array(cut)) == nil, "a file that is cut off is taken for whole")
}

/// Returns the unpacked bytes, at most about 8 MiB, or nil if the input is refused.
private func unpack(_ bytes: [UInt8]) -> [UInt8]? {
  var stream = GzipStream(bytes: bytes, name: "file")
  var unpacked: [UInt8] = []
  do {
    while unpacked.count < 4 << 20 {
      let part = try stream.next()
      if part.isEmpty { break }
      unpacked += part
    }
    return unpacked
  } catch {
    return nil
  }
}

private func packed(_ bytes: [UInt8]) -> [UInt8] {
  var stream = unsafe z_stream()
  // 15 bits of window, plus 16 for a gzip header. 8 is zlib's default for memory.
  let status = unsafe deflateInit2_(
    &stream, Int32(bytes.count % 10), Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
    Int32(MemoryLayout<z_stream>.size))
  require(status == Z_OK, "zlib could not be set up")
  defer { unsafe _ = deflateEnd(&stream) }
  var input = bytes
  var output = [UInt8](repeating: 0, count: Int(unsafe deflateBound(&stream, UInt(bytes.count))))
  let room = output.count
  // Both buffers outlive the call, and their sizes are passed with them.
  let count = unsafe input.withUnsafeMutableBufferPointer { from in
    unsafe output.withUnsafeMutableBufferPointer { to in
      unsafe stream.next_in = from.baseAddress
      unsafe stream.avail_in = UInt32(from.count)
      unsafe stream.next_out = to.baseAddress
      unsafe stream.avail_out = UInt32(to.count)
      require(unsafe deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib did not pack all")
      return unsafe room - Int(stream.avail_out)
    }
  }
  return Array(output.prefix(count))
}
