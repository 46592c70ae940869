mod recorded_noise;
