import Testing
import TestDirectories

@testable import InputFormats

@testable import StressKit

@Suite struct TraceReaderTests {
  private let folder = TemporaryDirectory()

  private func requests(_ content: String) throws -> [TraceRequest] {
    try requests(in: folder.file("trace.csv", content))
  }

  private func requests(in path: String) throws -> [TraceRequest] {
    var reader = try TraceReader(path: path)
    var requests: [TraceRequest] = []
    while let request = try reader.next() { requests.append(request) }
    return requests
  }

  private func message(_ content: String) throws -> String {
    let path = try folder.file("trace.csv", content)
    let error = #expect(throws: TraceError.self) { try requests(in: path) }
    return String((error?.description ?? "").dropFirst(path.count))
  }

  @Test func `keys are numbered in order of appearance`() throws {
    #expect(try requests("b\na\nb\n").map(\.key) == [0, 1, 0])
    #expect(try requests("b\na\nb\n").map(\.size) == [nil, nil, nil])
  }

  @Test func `sizes and times are read`() throws {
    #expect(try requests("7,512\n8,0\n") == [TraceRequest(key: 0, size: 512), TraceRequest(key: 1, size: 0)])
    #expect(try requests("0.5,x,10\n1,y,20") == [TraceRequest(key: 0, size: 10), TraceRequest(key: 1, size: 20)])
  }

  @Test func `a header line and Windows line ends are skipped`() throws {
    #expect(try requests("time,key,size\r\n1, x ,10\r\n").count == 1)
    #expect(try requests("key\nkey2\n").count == 1)
  }

  @Test func `errors name the line`() throws {
    #expect(try message("1,a,10\n2,b\n") == ":2: expected 3 fields, as on the first line; found 2")
    #expect(try message("a,1\nb,2\nc,many\n") == ":3: the size is not a whole number of bytes: 'many'")
    #expect(try message("a,-1\n") == ":1: the size is not a whole number of bytes: '-1'")
    #expect(try message("noon,a,1\n") == ":1: the time is not a number: 'noon'")
    #expect(try message("1,2,3,4\n") == ":1: expected key, or key,size or time,key,size; found 4 fields")
    #expect(try message("a,1\n\nb,1\n") == ":2: expected 2 fields, as on the first line; found 1")
    #expect(try message("a\n\nb\n") == ":2: the key is missing")
  }

  @Test func `a file without requests is an error`() throws {
    #expect(try message("") == ": the trace has no requests")
    #expect(try message("time,key,size\n") == ": the trace has no requests")
  }

  @Test func `an unreadable file is an error`() throws {
    #expect(throws: TraceError.self) { try requests(in: folder.path + "/absent") }
    #expect(throws: TraceError.self) { try requests(in: folder.path) }
  }

  @Test func `compressed files are unpacked member by member`() throws {
    let path = try folder.file("trace.csv.gz", GzipSamples.twoMembers)
    #expect(try requests(in: path).map(\.key) == [0, 1, 0])
  }

  @Test(arguments: [1, 2, 7, 1_000])
  func `compressed bytes in memory are passed to zlib in portions`(portion: Int) throws {
    var stream = GzipStream(bytes: GzipSamples.twoMembers, name: "bytes", largestPortion: portion)
    var unpacked: [UInt8] = []
    while case let part = try stream.next(), !part.isEmpty { unpacked += part }
    #expect(unpacked == Array("a\nb\na\n".utf8))
  }

  @Test(
    arguments: [
      [[0xFF], [0xFE], [0xFF, 0xFE]], [Array("e\u{301}".utf8), Array("\u{E9}".utf8), Array("e".utf8)],
      [[0xFF], Array(#"\xff"#.utf8), Array(#"\\xff"#.utf8)],
    ] as [[[UInt8]]])
  func `keys with different bytes are different, and so are their texts`(keys: [[UInt8]]) throws {
    var reader = TraceReader(bytes: Array((keys + keys).joined(separator: [UInt8(ascii: "\n")])), name: "trace")
    var numbers: [Int] = []
    while let request = try reader.next() { numbers.append(request.key) }
    #expect(numbers == [0, 1, 2, 0, 1, 2])
    #expect(Set(reader.keys).count == 3)
  }

  @Test func `a truncated compressed file is an error`() throws {
    let path = try folder.file("trace.csv.gz", Array(GzipSamples.twoMembers.dropLast(6)))
    let error = #expect(throws: TraceError.self) { try requests(in: path) }
    #expect(error?.message == "the compressed file ends early")
  }

  @Test func `a damaged compressed file is an error`() throws {
    var bytes = GzipSamples.twoMembers
    bytes[14] ^= 0xFF
    let path = try folder.file("trace.csv.gz", bytes)
    let error = #expect(throws: TraceError.self) { try requests(in: path) }
    #expect(error?.message == "the compressed file is damaged")
  }

  @Test func `a line may be longer than a block`() throws {
    let key = String(repeating: "k", count: 300_000)
    #expect(try requests("\(key)\n\(key)\nx").map(\.key) == [0, 0, 1])
  }
}
