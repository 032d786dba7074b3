/// Sleeps for a duration. If the task is cancelled, the function yields, so that a loop around it does not spin.
func pause(_ duration: Duration) async {
  do { try await Task.sleep(for: duration) } catch { await Task.yield() }
}
