// What `scripts/torture fuzz` builds with libFuzzer, which brings the main function and calls the one below.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What is fed with arbitrary bytes, by name. Each ends the process where something is not as it has to be.
private let targets: [String: @Sendable ([UInt8]) -> Void] = [
  "records": fuzzRecords,
  "record-round-trips": fuzzRecordRoundTrips,
  "disk-keys": fuzzDiskKeys,
  "keys": fuzzKeys,
  "key-order": fuzzKeyOrder,
  "codecs": fuzzCodecs,
  "merge-patch": fuzzMergePatch,
  "invalidations": fuzzInvalidations,
  "traces": fuzzTraces,
  "gzip": fuzzGzip,
  "arguments": fuzzArguments,
  "import": fuzzImport,
  "data-files": fuzzDataFiles,
]

/// The one that CISTERN_FUZZ names: libFuzzer takes the arguments for its own.
private let chosen: @Sendable ([UInt8]) -> Void = {
  let name = unsafe getenv("CISTERN_FUZZ").map { unsafe String(cString: $0) } ?? ""
  guard let target = targets[name] else { fatalError("no target '\(name)': \(targets.keys.sorted())") }
  return target
}()

/// What libFuzzer calls with each input that it makes.
@c(LLVMFuzzerTestOneInput)
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  // As many bytes as libFuzzer says, for the duration of the call; copied, so that a read beyond them is noticed.
  let input = unsafe Array(UnsafeBufferPointer(start: data, count: size))
  chosen(input)
  return 0
}

/// Ends the process, which libFuzzer takes for a finding, unless the condition holds.
func require(_ holds: Bool, _ rule: @autoclosure () -> String, file: StaticString = #file, line: UInt = #line) {
  guard holds else { fatalError("broken: \(rule())", file: file, line: line) }
}
