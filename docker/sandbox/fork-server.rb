# An interpreter of Ruby that stays in its sandbox and forks for each program, as fork-server.py does for Python. Ruby loads
# this file before the program that its command line names, which is a draft: after the fork, the program's own file takes its
# place, and its name that of the draft's, in the memory of the interpreter. So the program starts as if it had been named.
# As there, the process of the next program is forked ahead.
# Nothing of the library is loaded: a program that forgets a `require` would not notice.

# Another real user than root, as in fork-server.py: a signal to the processes of a program does not reach this one.
Process::Sys.setresuid(60_001, 0, 60_001)

require 'fiddle'

control = IO.for_fd(3, 'r+')
control.sync = true
draft = $0.dup
script = ObjectSpace.each_object(File).find { |file| !file.closed? && file.path == draft }
texts = ObjectSpace.each_object(String).select { |text| !text.equal?(draft) && text == draft }
texts = texts.map { |text| Fiddle::Pointer[text] }
# Ruby's own wait does not tell what a process has used.
wait4 = Fiddle::Function.new(
  Fiddle::Handle::DEFAULT['wait4'],
  [Fiddle::TYPE_INT, Fiddle::TYPE_VOIDP, Fiddle::TYPE_INT, Fiddle::TYPE_VOIDP],
  Fiddle::TYPE_INT
)
ending = "\0" * 8
used = "\0" * 256
Object.send(:remove_const, :Fiddle)
$LOADED_FEATURES.reject! { |feature| feature.include?('/fiddle') }
wake, woken = IO.pipe
trap('CHLD') { woken.write_nonblock('.', exception: false) }
server = Process.pid
GC.start
control.write("ready\n") unless script.nil?

children = {}
requests = []
ahead = taker = giver = nil
is_program = false
# A process that waits for its request.
fork_ahead = lambda do
  taker, giver = IO.pipe
  ahead = Process.fork
  is_program = ahead.nil?
  next if is_program
  taker.close
  children[ahead] = nil
rescue SystemCallError
  [taker, giver].each(&:close)
  raise
end
leave_ahead = lambda do
  ahead = nil
  giver.close
end
# False when the process that waits has been killed.
hand_over = lambda do |request|
  giver.syswrite(request)
  children[ahead] = request
  true
rescue Errno::EPIPE
  false
ensure
  leave_ahead.call
end
until is_program
  # Not at once: the end of a program is told meanwhile.
  is_idle = ahead.nil? && children.values.none?
  readable, = IO.select([control, wake], nil, nil, is_idle ? 0.005 : nil)
  if readable.nil?
    begin
      fork_ahead.call
    rescue SystemCallError
      # Another time.
    end
    next
  end
  if readable.include?(wake)
    wake.read_nonblock(4096, exception: false)
    until children.empty?
      ended = wait4.call(-1, ending, Process::WNOHANG, used)
      break unless ended.positive?
      request = children.delete(ended)
      leave_ahead.call if ended == ahead
      next if request.nil?
      number, place, = request.split(' ')
      # It was killed before it had taken it.
      next requests.push(request) if File.exist?(place)
      status = ending.unpack1('l')
      signal = status & 0x7f
      how = signal.zero? ? "#{status >> 8 & 0xff} -" : "- #{signal}"
      seconds, micros, more_seconds, more_micros, kilobytes = used.unpack('q5')
      micros += more_micros + (seconds + more_seconds) * 1_000_000
      control.write("end #{number} #{how} #{micros} #{kilobytes * 1024}\n")
    end
  end
  if readable.include?(control)
    line = control.gets
    exit!(0) if line.nil?
    requests.push(line.chomp)
  end
  until requests.empty? || is_program
    number, place, = requests.first.split(' ')
    if !File.exist?(place)
      requests.shift
    elsif !ahead.nil?
      requests.shift if hand_over.call(requests.first)
    else
      begin
        fork_ahead.call
      rescue SystemCallError => e
        control.write("problem #{number} #{e.message}\n")
        requests.shift
      end
    end
  end
end

# From here on it is the process of one program, which may come.
begin
  trap('CHLD', 'DEFAULT')
  [giver, wake, woken].each(&:close)
  Process.setsid
  Process.setrlimit(Process::RLIMIT_NPROC, 48)
  Process.groups = []
  File.umask(0o077)
  ENV.clear
  request = taker.gets
  # The server has ended.
  exit!(0) if request.nil?
  taker.close
  number, place, *outputs = request.split(' ')
  uid, folder, program, given, count, *rest = File.binread(place).split("\0", -1)
  # Fails when the agent has taken the request back: then nothing may be written.
  File.unlink(place)
  outputs = outputs.map { |output| File.open(output, File::WRONLY) }
  $stdout.reopen(outputs[0])
  $stderr.reopen(outputs[1])
  $stderr.sync = true
  outputs.each(&:close)
  control.write("pid #{number} #{Process.pid} #{Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :microsecond)}\n")
  control.close
  File.write('/proc/self/oom_score_adj', '1000')
  Process.setpriority(Process::PRIO_PROCESS, 0, 10)
  Process::GID.change_privilege(uid.to_i)
  Process::UID.change_privilege(uid.to_i)
  exit!(1) if Process.ppid != server
  # Now, so that the program may open it as /dev/stdin.
  if given != '-'
    content = given.unpack1('m')
    taker, giver = IO.pipe
    giver.fcntl(1031, [4096, content.bytesize].max)
    giver.syswrite(content) unless content.empty?
    giver.close
    $stdin.reopen(taker)
    taker.close
  end
  ENV.replace(rest.drop(count.to_i).to_h { |each| each.split('=', 2) })
  Dir.chdir(folder)
  ARGV.replace(rest.take(count.to_i).map { |each| each.force_encoding(Encoding.default_external) })
  # Ruby reads options from such a line.
  exec(RbConfig.ruby, program, *ARGV) if File.binread(program, 200).to_s.match?(/\A#!.*ruby/)
  script.read
  script.reopen(File.open(program, 'r'))
  texts.each { |text| text[0, program.bytesize] = program }
  Random.srand
rescue Exception => e
  $stderr.write("#{e.message}\n")
  exit!(126)
end
